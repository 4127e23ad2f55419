/** The console's words for why an origin cannot be used: there is such a reason, and every one that a check can meet has words. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { BYPASSES, ORIGIN_FAILURES, SKIPS } from '#edge/reasons.ts';
import { originAnswerText } from '../../console/text/origin-answer.ts';

/** What a check, a plain GET without a body or credentials, of which nothing is stored, cannot meet. */
const NOT_IN_A_CHECK = [
  ...['originBusy', 'originShare', 'buffersFull', 'originCut', 'originMalformed', 'originHeaderTooLarge'],
  ...['method', 'requestBody', 'precondition', 'requestNoStore', 'websocket', 'contentCoding', 'dotSegments'],
  ...['authorization', 'contentRange', 'invalidated', 'redirectTarget', 'liveStream'],
  ...['tooLarge', 'storeFull', 'storeError', 'parent'],
];

test('every reason that a check of an origin can meet has words in both languages', () => {
  const reasons = Object.keys({ ...ORIGIN_FAILURES, ...SKIPS, ...BYPASSES });
  const expected = reasons.filter((reason) => !NOT_IN_A_CHECK.includes(reason)).sort();
  for (const { reasons: words } of Object.values(originAnswerText))
    assert.deepEqual(Object.keys(words).sort(), expected);
});
