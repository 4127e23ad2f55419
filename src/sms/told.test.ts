import assert from 'node:assert/strict';
import { test } from 'node:test';
import { receiptOf } from '../../test/support/carrier.ts';
import type { ReceiptState } from './carrier.ts';
import { isOptOut, receiptToStore } from './told.ts';

test('a number opts out with one of the words alone, however it is typed', () => {
  for (const text of ['R', 't', ' TD ', 'td。', '退订', 'Stop', 'ＴＤ', 'STOP!']) assert.ok(isOptOut(text), text);
  for (const text of ['', 'Thank you', 'RT', '不退订', 'stop it', 'tdd']) assert.ok(!isOptOut(text), text);
});

test('a receipt that is not the last word ends nothing, and a failure without a word names its state', () => {
  const stored = (state: ReceiptState, word: string, isFinal: boolean) => {
    const told = receiptToStore(1, receiptOf('1', { state, word, isFinal, raw: 'x'.repeat(5000) }));
    return told.kind === 'receipt' ? [told.receipt.state, told.receipt.error, told.receipt.raw.length] : [];
  };
  assert.deepEqual(stored('enroute', 'ENROUTE', false), ['onTheWay', 'ENROUTE', 1000]);
  assert.deepEqual(stored('undelivered', 'UNDELIV/027', false), ['onTheWay', 'UNDELIV/027', 1000]);
  assert.deepEqual(stored('rejected', '', true), ['failed', 'rejected', 1000]);
  assert.deepEqual(stored('rejected', 'REJECTD/042', true), ['failed', 'REJECTD/042', 1000]);
  assert.deepEqual(stored('delivered', 'DELIVRD', true), ['delivered', '', 1000]);
});

test('when it was is kept as the carrier tells it', () => {
  const doneAt = (given: object) => {
    const told = receiptToStore(1, receiptOf('1', given));
    return told.kind === 'receipt' ? told.receipt.doneAt : Number.NaN;
  };
  assert.deepEqual([doneAt({ doneAt: 7 }), doneAt({})], [7, undefined]);
});
