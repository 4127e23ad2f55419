import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { receiptOf } from '../../test/support/sms/carrier.ts';
import type { MobileOriginated, ReceiptState } from './carrier.ts';
import { receiptToStore, replyToStore, unreadToStore } from './inbound-events.ts';

describe('a reply', () => {
  const reply = (octets: Buffer, changed: Partial<MobileOriginated> = {}) => {
    const text = { text: '?', isText: true, coding: 0, octets };
    const told = replyToStore(1, { origin: '+8613800138000', destination: '1069', ...text, ...changed });
    assert.ok(told.kind === 'reply');
    return told.reply;
  };

  test('a reply opts out in any alphabet that its octets may be in, whatever the carrier calls it', () => {
    for (const [name, octets] of [
      ['ASCII', '5444'],
      ['ASCII with a NUL', '544400'],
      ['GBK', 'cdcbb6a9'],
      ['full-width GBK', 'a3d4a3c4'],
      ['UTF-8', 'e98080e8aea2'],
      ['UTF-16', '90008ba2'],
      ['UTF-16 with NULs', '90008ba20000'],
      ['UTF-16 with its octets swapped', '0090a28b'],
      ['letters in UTF-16', '00540044'],
    ] as const)
      assert.ok(reply(Buffer.from(octets, 'hex')).isOptOut, name);
    for (const text of ['Thank you', 'TDX', '谢谢', ''])
      for (const octets of [Buffer.from(text), Buffer.from(text, 'utf16le').swap16()])
        assert.ok(!reply(octets).isOptOut, text);
    assert.ok(reply(Buffer.alloc(0), { text: 'TD' }).isOptOut, 'by its text');
  });

  test('a reply that is not text says in which alphabet its octets are', () => {
    assert.equal(reply(Buffer.of(1), { text: 'hex:01', isText: false, coding: 4 }).coding, 4);
    assert.ok(!('coding' in reply(Buffer.from('a'), { text: 'a', coding: 4 })));
  });
});

test('a delivery that cannot be read is stored up to 4096 octets', () => {
  const told = unreadToStore(1, { reason: 'cut', command: 'deliver_sm', octets: Buffer.alloc(5_000, 0xab) });
  assert.ok(told.kind === 'unread');
  assert.deepEqual([told.unread.octets.length, told.unread.octets.slice(0, 4)], [8_192, 'abab']);
});

test('a receipt that is not final ends nothing, and a failure without a word names its state', () => {
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

test('the time of a receipt is stored as the carrier reports it', () => {
  const doneAt = (given: object) => {
    const told = receiptToStore(1, receiptOf('1', given));
    return told.kind === 'receipt' ? told.receipt.doneAt : Number.NaN;
  };
  assert.deepEqual([doneAt({ doneAt: 7 }), doneAt({})], [7, undefined]);
});
