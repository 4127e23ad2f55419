import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isOptOut, receiptToStore } from './told.ts';

test('a number opts out with one of the words alone, however it is typed', () => {
  for (const text of ['R', 't', ' TD ', 'td。', '退订', 'Stop', 'ＴＤ', 'STOP!']) assert.ok(isOptOut(text), text);
  for (const text of ['', 'Thank you', 'RT', '不退订', 'stop it', 'tdd']) assert.ok(!isOptOut(text), text);
});

test('a receipt that is not the last word ends nothing, and a failure without a code names its state', () => {
  const receipt = { carrierId: '1', keys: ['1'], error: '', destination: '+1', raw: 'x'.repeat(5000) } as const;
  const stored = (state: 'enroute' | 'rejected' | 'delivered', error = '') => {
    const told = receiptToStore(1, { ...receipt, state, error });
    return told.kind === 'receipt' ? [told.receipt.state, told.receipt.error, told.receipt.raw.length] : [];
  };
  assert.deepEqual(stored('enroute'), ['onTheWay', 'enroute', 1000]);
  assert.deepEqual(stored('rejected'), ['failed', 'rejected', 1000]);
  assert.deepEqual(stored('rejected', '042'), ['failed', '042', 1000]);
  assert.deepEqual(stored('delivered', '000'), ['delivered', '', 1000]);
});

test('when it was is kept as the carrier tells it', () => {
  const receipt = { carrierId: '1', keys: ['1'], state: 'delivered', error: '', destination: '+1', raw: '' } as const;
  const doneAt = (given: object) => {
    const told = receiptToStore(1, { ...receipt, ...given });
    return told.kind === 'receipt' ? told.receipt.doneAt : Number.NaN;
  };
  assert.deepEqual([doneAt({ doneAt: 7 }), doneAt({})], [7, undefined]);
});
