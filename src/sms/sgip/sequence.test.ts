import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dialectOf, NOW } from '../../../test/support/sms/gateway-dialects.ts';
import { freeSequence, referenceOf, sequenceOf } from './sequence.ts';

const NODE = 3_010_112_345;

test('a sequence is the node, the time in Beijing and a number', () => {
  // 29 November 2026, 07:14:00 in Beijing.
  assert.equal(sequenceOf(NODE, Date.UTC(2026, 10, 28, 23, 14), 5), 'b36aab59434c432800000005');
  assert.equal(sequenceOf(NODE, NOW, 2 ** 32 + 6), 'b36aab5911f0e54500000006');
});

test('a sequence names its part', () => {
  assert.deepEqual(referenceOf(sequenceOf(NODE, NOW, 2 ** 33 + 4_000_000_000)), {
    value: 4_000_000_000 - 2 ** 31,
    bits: 31,
  });
});

test('a part that is sent again within a second gets another sequence that names it too', () => {
  const taken = new Set([sequenceOf(NODE, NOW, 7), sequenceOf(NODE, NOW + 1_000, 7)]);
  const free = freeSequence(NODE, NOW, 7, (key) => taken.has(String(key)));
  assert.equal(free, sequenceOf(NODE, NOW + 2_000, 7));
  assert.equal(referenceOf(free).value, 7);
});

test('binds of several connections within a second have sequences of their own', () => {
  const dialect = dialectOf('sgip');
  const login = dialect.login();
  const keys = [1, 2, 3].map(() => dialect.sequences()(login, () => false));
  assert.equal(new Set(keys).size, 3);
});
