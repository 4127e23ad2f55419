import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isForbidden, parseStreamKey } from './live.ts';

const FORBIDDEN_ROWS = [
  { mark: undefined, now: 5, expected: false },
  { mark: { forbidden: true, until: 0, kicked: '' }, now: 5, expected: true },
  { mark: { forbidden: true, until: 6, kicked: '' }, now: 5, expected: true },
  { mark: { forbidden: true, until: 5, kicked: '' }, now: 5, expected: false },
  { mark: { forbidden: false, until: 6, kicked: 'b' }, now: 5, expected: false },
];

for (const { mark, now, expected } of FORBIDDEN_ROWS) {
  test(`the mark ${JSON.stringify(mark)} at ${now} forbids: ${expected}`, () => {
    assert.equal(isForbidden(mark, now), expected);
  });
}

const KEY_ROWS = [
  { key: '7/live/a.b-c_1', expected: { domainId: 7, app: 'live', stream: 'a.b-c_1' } },
  { key: `7/${'a'.repeat(64)}/${'b'.repeat(128)}`, isKey: true },
  { key: `7/${'a'.repeat(65)}/b`, expected: undefined },
  { key: `7/a/${'b'.repeat(129)}`, expected: undefined },
  { key: '0/live/a', expected: undefined },
  { key: '07/live/a', expected: undefined },
  { key: '7/live', expected: undefined },
  { key: '7/live/a/b', expected: undefined },
  { key: '7/.live/a', expected: undefined },
  { key: '7/live/a b', expected: undefined },
];

for (const { key, expected, isKey = false } of KEY_ROWS) {
  test(`the key of a mark: ${key.slice(0, 20)} (${key.length} characters)`, () => {
    const parsed = parseStreamKey(key);
    if (isKey) assert.equal(parsed?.domainId, 7);
    else assert.deepEqual(parsed, expected);
  });
}
