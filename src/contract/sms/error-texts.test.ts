import assert from 'node:assert/strict';
import { test } from 'node:test';
import { explainSmsError } from './error-texts.ts';

test('errors of parts are explained in both languages, and those that nobody knows are not', () => {
  for (const [error, en] of [
    ['0x0000000b', 'invalid destination address'],
    ['0x00000400', 'a status code of the carrier'],
    ['otherPart', 'another part of the message failed, so this one is not sent'],
    ['UNDELIV/027', 'the carrier could not deliver it'],
    ['undeliv', 'the carrier could not deliver it'],
    ['MK:0012', undefined],
    ['', undefined],
    ['toString', undefined],
  ] as const) {
    const text = explainSmsError(error);
    assert.equal(text?.en, en, error);
    assert.equal(text === undefined, en === undefined);
    if (text !== undefined) assert.match(text['zh-CN'], /\p{Script=Han}/u);
  }
});
