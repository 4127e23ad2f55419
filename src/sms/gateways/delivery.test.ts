/** Reports and replies as gateways write them. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { dialectOf, GATEWAY_KINDS } from '../../../test/support/sms/gateway-dialects.ts';
import {
  type GatewayKind,
  type PhoneMessage,
  PROTOCOLS,
  type Report,
} from '../../../test/support/sms/gateway-protocols.ts';
import type { MobileOriginated, Receipt } from '../carrier.ts';
import type { GatewayFields } from './settings.ts';

const IDS: Readonly<Record<GatewayKind, string>> = {
  cmpp2: 'be9ccd4000025dee',
  cmpp3: 'be9ccd4000025dee',
  // With a blank, a colon and a zero, which end nothing.
  smgp: '203a0011290701000042',
  sgip: 'b36aab59434c432800000005',
};

function receiptOf(kind: GatewayKind, report: Omit<Report, 'id'>, changed: Partial<GatewayFields> = {}): Receipt {
  const dialect = dialectOf(kind, changed);
  const octets = PROTOCOLS[kind].report(PROTOCOLS[kind].sequence(1), { id: Buffer.from(IDS[kind], 'hex'), ...report });
  const delivery = dialect.readDelivery(dialect.decode(octets), octets);
  assert.ok(delivery?.kind === 'receipt');
  return delivery.receipt;
}

function replyOf(kind: GatewayKind, message: PhoneMessage): MobileOriginated {
  const dialect = dialectOf(kind);
  const octets = PROTOCOLS[kind].deliver(PROTOCOLS[kind].sequence(1), message);
  const delivery = dialect.readDelivery(dialect.decode(octets), octets);
  assert.ok(delivery?.kind === 'reply');
  return delivery.message;
}

for (const kind of GATEWAY_KINDS)
  describe(`deliveries of ${kind}`, () => {
    test('a report of a delivered message', () => {
      const { raw, submittedAt, doneAt, reference, ...receipt } = receiptOf(kind, {});
      assert.deepEqual(receipt, {
        ...{ carrierId: IDS[kind], keys: [IDS[kind]], state: 'delivered', isFinal: true },
        ...{ word: kind === 'sgip' ? 'sgip:0' : 'DELIVRD', destination: '+8613800138000', number: '+8613800138000' },
      });
      assert.match(raw, new RegExp(IDS[kind]));
      const times = [Date.UTC(2026, 10, 28, 23, 1), Date.UTC(2026, 10, 28, 23, 2)];
      assert.deepEqual([submittedAt, doneAt], kind === 'sgip' ? [undefined, undefined] : times);
      assert.deepEqual(reference, kind === 'sgip' ? { value: 5, bits: 31 } : undefined);
    });

    test('the number may be left out of the comparison, or be unreadable', () => {
      assert.equal(receiptOf(kind, {}, { receiptNumber: 'ignore' }).number, undefined);
      const { destination, number } = receiptOf(kind, { number: 'abc' });
      assert.deepEqual([destination, number], ['abc', undefined]);
    });

    test('a reply in every coding, with and without a header', () => {
      const gbk = Buffer.from('cdcbb6a9', 'hex');
      const { origin, destination, text, coding, octets } = replyOf(kind, { coding: 15, content: gbk });
      assert.deepEqual([origin, destination, text, coding, octets], ['+8613800138000', '1069', '退订', 15, gbk]);
      const header = Buffer.from('050003020201', 'hex');
      const long = replyOf(kind, { coding: 8, udhi: 64, content: Buffer.concat([header, Buffer.from('4f60', 'hex')]) });
      assert.deepEqual([long.text, long.concatenation], ['你', { reference: 2, part: 1, parts: 2 }]);
      assert.equal(replyOf(kind, { content: Buffer.alloc(0) }).text, '');
      assert.equal(replyOf(kind, { from: '10086', coding: 0, content: Buffer.from('TD') }).origin, '10086');
    });
  });

/** Word, error code → state, what is kept, whether it is the last word. */
const WORDS: readonly (readonly [word: string, error: string, state: string, kept: string, isFinal: boolean])[] = [
  ['DELIVRD', '000', 'delivered', 'DELIVRD', true],
  ['ACCEPTD', '000', 'accepted', 'ACCEPTD', false],
  ['ENROUTE', '000', 'enroute', 'ENROUTE', false],
  ['EXPIRED', '000', 'expired', 'EXPIRED', true],
  ['DELETED', '000', 'deleted', 'DELETED', true],
  ['UNKNOWN', '000', 'unknown', 'UNKNOWN', true],
  ['REJECTD', '000', 'rejected', 'REJECTD', true],
  ['UNDELIV', '006', 'undelivered', 'UNDELIV/006', true],
  ['MA:0001', '000', 'undelivered', 'MA:0001', true],
  ['LIMIT', '000', 'undelivered', 'LIMIT', true],
  ['2:x', '000', 'undelivered', '2:x', true],
  ['00141', '000', 'undelivered', '00141', true],
];

for (const kind of ['cmpp2', 'cmpp3', 'smgp'] as const)
  test(`words of ${kind}`, () => {
    for (const [word, error, state, kept, isFinal] of WORDS) {
      const receipt = receiptOf(kind, { word, error });
      const expected = kind === 'smgp' ? kept : word;
      assert.deepEqual([receipt.state, receipt.word, receipt.isFinal], [state, expected, isFinal], word);
    }
    const own = receiptOf(kind, { word: 'LIMIT' }, { statusWords: [{ word: 'LIM*', state: 'expired' }] });
    assert.equal(own.state, 'expired');
    const none = receiptOf(kind, { word: '' });
    assert.deepEqual([none.state, none.isFinal], ['unknown', false]);
  });

test('states of SGIP', () => {
  for (const [state, errorCode, expected, word, isFinal] of [
    [0, 0, 'delivered', 'sgip:0', true],
    [1, 0, 'enroute', 'sgip:waiting', false],
    [2, 29, 'undelivered', 'sgip:29', true],
    [9, 1, 'unknown', 'sgip:1', true],
  ] as const) {
    const receipt = receiptOf('sgip', { state, errorCode });
    assert.deepEqual([receipt.state, receipt.word, receipt.isFinal], [expected, word, isFinal]);
  }
  const statusWords = [{ word: 'sgip:25', state: 'expired' }] as const;
  assert.equal(receiptOf('sgip', { state: 2, errorCode: 25 }, { statusWords }).state, 'expired');
});
