import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { type ReceiptIds, SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { Delivery } from '../wire/dialect.ts';
import { answerKeys, receiptKeys } from './carrier-id.ts';
import { readDelivery } from './delivery.ts';
import { encodePdu } from './encode.ts';
import type { Fields, Tlv } from './layouts.ts';
import { readReceiptDate } from './receipt-date.ts';
import { TAGS, u8Tlv, u16Tlv } from './tlvs.ts';

const SETTINGS: SmppSettings = { ...SMPP_DEFAULTS, kind: 'smpp', host: 'h', port: 2775, systemId: 'a', password: 'b' };
const RECEIPT = 0x04;
const idTlv = (id: string): Tlv => ({ tag: TAGS.receiptedMessageId, value: Buffer.from(`${id}\0`, 'latin1') });
const at = (utc: string) => Date.parse(utc);

describe('a receipt', () => {
  const ROWS: readonly [string, string, readonly Tlv[], object][] = [
    [
      'as in appendix B of the standard',
      'id:0972660181 sub:001 dlvrd:001 submit date:2611272105 done date:2611272106 stat:DELIVRD err:000 text:Hello',
      [],
      { carrierId: '0972660181', state: 'delivered', word: 'DELIVRD', doneAt: at('2026-11-27T13:06:00Z') },
    ],
    [
      'without sub and dlvrd (jsmpp#62, cloudhopper#105)',
      'id:1a submit date:2611272105 done date:2611272106 stat:UNDELIV err:045 text:',
      [],
      { carrierId: '1a', state: 'undelivered', word: 'UNDELIV/045' },
    ],
    [
      'without dates (jsmpp#74)',
      'id:1a sub:001 dlvrd:000 stat:EXPIRED err:000',
      [],
      { state: 'expired', doneAt: undefined },
    ],
    ['with an id and a state alone', 'id:1a stat:REJECTD', [], { carrierId: '1a', state: 'rejected', word: 'REJECTD' }],
    [
      'with stat:FAILED (jasmin#447)',
      'id:1a sub:001 dlvrd:000 stat:FAILED err:001 text:',
      [],
      { state: 'undelivered' },
    ],
    ['with a code for its state', 'id:1a stat:MK:0001 err:MK:0001', [], { state: 'undelivered', word: 'MK:0001' }],
    ['with an unknown state', 'id:1a stat:LOST err:7', [], { state: 'unknown', word: 'LOST/7', isFinal: true }],
    [
      'in capitals, in another order',
      'STAT:delivrd ID:1A DONE DATE:261127210659',
      [],
      { carrierId: '1A', state: 'delivered', doneAt: at('2026-11-27T13:06:59Z') },
    ],
    [
      'with words of the message that look like fields',
      'id:1a stat:UNDELIV err:1 text:id:2b stat:DELIVRD',
      [],
      { carrierId: '1a', state: 'undelivered' },
    ],
    [
      'in parameters alone (vumi#637)',
      '',
      [idTlv('39f99dd5'), u8Tlv(TAGS.messageState, 2)],
      { carrierId: '39f99dd5', keys: ['39f99dd5', '972660181'], equalKeys: 2, state: 'delivered', raw: '' },
    ],
    [
      'with a network’s error',
      '',
      [idTlv('1'), u8Tlv(TAGS.messageState, 5), { tag: TAGS.networkErrorCode, value: Buffer.of(3, 1, 0) }],
      { state: 'undelivered', word: 'UNDELIV/256' },
    ],
    [
      'that hands our reference back',
      'id:1 stat:DELIVRD',
      [u16Tlv(TAGS.userMessageReference, 777)],
      { reference: { value: 777, bits: 16 } },
    ],
    [
      'with parameters of odd sizes',
      'id:1 stat:DELIVRD',
      [
        { tag: TAGS.messageState, value: Buffer.alloc(0) },
        { tag: TAGS.userMessageReference, value: Buffer.alloc(9) },
      ],
      { state: 'delivered', reference: undefined },
    ],
    [
      'with commas and no blanks',
      'id:1a,sub:001,dlvrd:001,submit date:2611272105,done date:2611272106,stat:DELIVRD,err:000,text:a,b',
      [],
      {
        ...{ carrierId: '1a', state: 'delivered', word: 'DELIVRD' },
        ...{ submittedAt: at('2026-11-27T13:05:00Z'), doneAt: at('2026-11-27T13:06:00Z') },
      },
    ],
    [
      'with semicolons, and dates that have a time of day',
      'id:1a;submit date:2026-11-27 21:05:00;done date:2026-11-27 21:06;stat:UNDELIV;err:27;text:',
      [],
      {
        ...{ carrierId: '1a', state: 'undelivered', word: 'UNDELIV/27' },
        ...{ submittedAt: at('2026-11-27T13:05:00Z'), doneAt: at('2026-11-27T13:06:00Z') },
      },
    ],
    ['with commas and blanks', 'id:1a, stat:EXPIRED , err:7', [], { carrierId: '1a', word: 'EXPIRED/7' }],
    ['that is not final', 'id:1a stat:ENROUTE err:000', [], { isFinal: false, word: 'ENROUTE' }],
    ['that the network is about to try again', 'id:1a stat:RETRY', [], { isFinal: false, word: 'RETRY' }],
    ['that is final', 'id:1a stat:MK:0012', [], { isFinal: true, word: 'MK:0012' }],
    ['with a word of octets', 'id:1a stat:\x01\u00e9\x7fX err:\x02', [], { word: 'X' }],
    ['with a word without end', `id:1a stat:${'X'.repeat(300)}`, [], { word: 'X'.repeat(40) }],
    [
      'with half of our reference',
      'id:1 stat:DELIVRD',
      [u8Tlv(TAGS.userMessageReference, 9)],
      { reference: { value: 9, bits: 8 } },
    ],
    ['with an id alone, which tells nothing yet', 'id:1a', [], { carrierId: '1a', word: '', isFinal: false }],
    ['with a NUL at its end', 'id:1a stat:DELIVRD err:000\0', [], { state: 'delivered', word: 'DELIVRD' }],
  ];
  for (const [name, text, tlvs, expected] of ROWS)
    test(`a receipt ${name} is read`, () => {
      const delivery = readDelivery(deliver({ esmClass: RECEIPT, shortMessage: Buffer.from(text) }, tlvs), SETTINGS);
      assert.ok(delivery.kind === 'receipt');
      for (const [member, value] of Object.entries(expected))
        assert.deepEqual(delivery.receipt[member as keyof typeof delivery.receipt], value, member);
      assert.equal(delivery.receipt.destination, '+8613800138000');
    });

  test('a receipt of an intermediate notification is not final, whatever it says', () => {
    for (const esmClass of [0x20, 0x24]) {
      const shortMessage = Buffer.from('id:1a stat:UNDELIV err:027');
      const it = readDelivery(deliver({ esmClass, shortMessage }), SETTINGS);
      assert.ok(it.kind === 'receipt');
      assert.deepEqual([it.receipt.isFinal, it.receipt.word], [false, 'UNDELIV/027']);
    }
  });

  test('a receipt from an address that is not a number names none', () => {
    const it = readDelivery(
      deliver({ esmClass: RECEIPT, sourceAddr: '10086x', shortMessage: Buffer.from('id:1 stat:DELIVRD') }),
      SETTINGS,
    );
    assert.ok(it.kind === 'receipt');
    assert.deepEqual([it.receipt.destination, it.receipt.number], ['10086x', undefined]);
  });

  test('a receipt names no number if the carrier is known to rewrite them', () => {
    const shortMessage = Buffer.from('id:1a stat:DELIVRD');
    const it = readDelivery(deliver({ esmClass: RECEIPT, shortMessage }), { ...SETTINGS, receiptNumber: 'ignore' });
    assert.ok(it.kind === 'receipt');
    assert.deepEqual([it.receipt.destination, it.receipt.number], ['+8613800138000', undefined]);
  });

  test('a receipt is read in ASCII that claims to be UCS-2, and in true UCS-2 (node-smpp#68)', () => {
    const text = 'id:1a sub:001 dlvrd:001 stat:DELIVRD err:000';
    for (const shortMessage of [Buffer.from(text), Buffer.from(text, 'utf16le').swap16()]) {
      const it = readDelivery(deliver({ esmClass: RECEIPT, dataCoding: 8, shortMessage }), SETTINGS);
      assert.ok(it.kind === 'receipt');
      assert.deepEqual([it.receipt.carrierId, it.receipt.state], ['1a', 'delivered']);
    }
  });

  test('a receipt is read in message_payload, with sm_length 0', () => {
    const payload = { tag: TAGS.messagePayload, value: Buffer.from('id:1a stat:DELIVRD') };
    const it = readDelivery(deliver({ esmClass: RECEIPT }, [payload]), SETTINGS);
    assert.ok(it.kind === 'receipt' && it.receipt.carrierId === '1a');
  });

  test('a receipt is read by data_sm', () => {
    const { esmClass, registeredDelivery, dataCoding, ...fields } = deliver({ esmClass: RECEIPT }).pdu.fields;
    const dataFields = { ...fields, esmClass, registeredDelivery, dataCoding };
    const tlvs = [idTlv('1a'), u8Tlv(TAGS.messageState, 2)];
    const pdu = { command: 'dataSm', status: 0, sequence: 1, fields: dataFields, tlvs } as const;
    const it = readDelivery({ pdu, frame: encodePdu(pdu) }, SETTINGS);
    assert.ok(it.kind === 'receipt' && it.receipt.carrierId === '1a');
  });

  test('a receipt is recognised by its mark, by its parameter, or by its text if the connector says so; else a phone could write one', () => {
    const shortMessage = Buffer.from('id:1a stat:DELIVRD');
    const kind = (fields: object, tlvs: readonly Tlv[], settings: object) =>
      readDelivery(deliver({ shortMessage, ...fields }, tlvs), { ...SETTINGS, ...settings }).kind;
    assert.equal(kind({}, [], {}), 'reply');
    assert.equal(kind({}, [], { unmarkedReceipts: true }), 'receipt');
    assert.equal(kind({}, [idTlv('1a')], {}), 'receipt');
    assert.equal(kind({ shortMessage: Buffer.from('yes') }, [idTlv('1a')], {}), 'reply');
    assert.equal(kind({ shortMessage: Buffer.from('') }, [idTlv('1a'), u8Tlv(TAGS.messageState, 2)], {}), 'receipt');
    assert.equal(kind({ esmClass: 0x20 }, [], {}), 'receipt');
    assert.equal(kind({ esmClass: 0x24 }, [], {}), 'receipt');
    assert.equal(kind({ shortMessage: Buffer.from('my id: stat') }, [], { unmarkedReceipts: true }), 'reply');
    for (const esmClass of [0x08, 0x10, 0x18]) assert.equal(kind({ esmClass }, [], {}), 'reply', 'of a phone');
  });

  test('a receipt of any octets can be read', () => {
    const octets = fc.uint8Array({ maxLength: 300, size: 'max' }).map((it) => Buffer.from(it));
    const tlvs = fc.array(fc.record({ tag: fc.constantFrom(...Object.values(TAGS)), value: octets }));
    fc.assert(
      fc.property(fc.nat(255), fc.nat(255), octets, tlvs, (esmClass, dataCoding, shortMessage, them) => {
        readDelivery(deliver({ esmClass, dataCoding, shortMessage }, them), { ...SETTINGS, unmarkedReceipts: true });
      }),
    );
  });
});

describe('deliveries that cannot be read are kept unchanged', () => {
  const unread = (it: Delivery) => (it.kind === 'unread' ? it.unread : undefined);

  test('a PDU that ends before its text is kept as it arrived', () => {
    const it = readDelivery({ ...deliver({}), missing: 'dataCoding' }, SETTINGS);
    assert.deepEqual(unread(it), { reason: 'cut', command: 'deliver_sm', octets: Buffer.from('a PDU') });
  });

  test("a receipt without an id and a state, and a phone's acknowledgement without a word, are kept as they arrived", () => {
    for (const esmClass of [0x04, 0x08, 0x10, 0x18, 0x20])
      assert.equal(unread(readDelivery(deliver({ esmClass }), SETTINGS))?.reason, 'empty', String(esmClass));
  });

  test('an empty reply is a reply', () => {
    assert.equal(readDelivery(deliver({}), SETTINGS).kind, 'reply');
  });
});

describe('ids of receipts (jasmin#1129, #1034, #643, smscsim#4, sms-gateway#563, sms-smpp#153)', () => {
  /** Setting, answer, text of the receipt, its parameter, and whether they belong together. */
  const ROWS: readonly [ReceiptIds, string, string, string, boolean][] = [
    ['same', 'A1B2', 'a1b2', '', true],
    ['same', '0000123', '123', '', true],
    ['same', '123', '0000123', '', true],
    ['same', '39f99dd5', '0972660181', '', false],
    ['same', '4f6b-11', '4F6B-11 ', '', true],
    ['decimal', '39f99dd5', '0972660181', '', true],
    ['decimal', '39F99DD5', '972660181', '', true],
    ['decimal', '00000010', '0000000016', '', true],
    ['decimal', '39f99dd5', '0972660181', '39f99dd5', true],
    ['hex', '0972660181', '39f99dd5', '', true],
    ['hex', '972660181', '39F99DD5', '0972660181', true],
    ['auto', '39f99dd5', '0972660181', '', true],
    ['auto', '0972660181', '39f99dd5', '', true],
    ['auto', '39f99dd5', '39F99DD5', '', true],
    ['auto', 'c449ab9744f47b6af1879e49e75e4f40', 'c449ab9744f47b6af1879e49e75e4f40', '', true],
    ['auto', 'ffffffffffffffff', '18446744073709551615', '', true],
    ['auto', 'x-1', 'x-2', '', false],
  ];
  for (const [ids, answer, text, tlv, isSame] of ROWS)
    test(`ids ${ids}: the answer ${answer}, the receipt ${text} ${tlv}`, () => {
      const ofAnswer = answerKeys(answer, ids);
      const ofReceipt = receiptKeys(text, tlv, ids);
      assert.equal(ofReceipt.includes(ofAnswer[0] ?? ''), isSame, 'the part is there when the receipt comes');
      assert.equal(ofAnswer.includes(ofReceipt[0] ?? ''), isSame, 'the receipt is there when the answer comes');
    });

  test('an absent id has no key', () => {
    assert.deepEqual([answerKeys('', 'auto'), receiptKeys('', '', 'auto')], [[], []]);
  });
});

describe('dates of receipts, which never make a receipt unreadable (gammu#132, #124, ksmppd#108)', () => {
  const ROWS: readonly [string, number, string | undefined][] = [
    ['2611272106', 480, '2026-11-27T13:06:00Z'],
    ['2611272106', 0, '2026-11-27T21:06:00Z'],
    ['2611272106', -300, '2026-11-28T02:06:00Z'],
    ['261127210605', 480, '2026-11-27T13:06:05Z'],
    ['20261127210605', 480, '2026-11-27T13:06:05Z'],
    ['202611272106', 480, '2026-11-27T13:06:00Z'],
    ['2026-11-27 21:06:05', 480, '2026-11-27T13:06:05Z'],
    ['2611312106', 480, undefined],
    ['2611272460', 480, undefined],
    ['261127', 480, undefined],
    ['0000000000', 480, undefined],
    ['', 480, undefined],
  ];
  for (const [text, zone, expected] of ROWS)
    test(`the date ${JSON.stringify(text)} by a clock ${zone} minutes ahead`, () => {
      assert.equal(readReceiptDate(text, zone), expected === undefined ? undefined : at(expected));
    });
});

describe('a reply', () => {
  const reply = (it: Delivery) => (it.kind === 'reply' ? it.message : undefined);

  test('a reply from a phone is read, with the number as we store it', () => {
    const it = readDelivery(
      deliver({ shortMessage: Buffer.from('9000 8ba2'.replace(' ', ''), 'hex'), dataCoding: 8 }),
      SETTINGS,
    );
    const { origin, destination, text, isText } = reply(it) ?? {};
    assert.deepEqual([origin, destination, text, isText], ['+8613800138000', '10690000', '退订', true]);
  });

  test('a reply in parts is read, by a header in message_payload (gosmpp#55) or by parameters', () => {
    const payload = { tag: TAGS.messagePayload, value: Buffer.from('0500030002014f60', 'hex') };
    const byHeader = readDelivery(deliver({ esmClass: 0x40, dataCoding: 8 }, [payload]), SETTINGS);
    assert.deepEqual(reply(byHeader)?.concatenation, { reference: 0, part: 1, parts: 2 });
    assert.equal(reply(byHeader)?.text, '你');
    const sar = [u16Tlv(TAGS.sarMsgRefNum, 300), u8Tlv(TAGS.sarTotalSegments, 2), u8Tlv(TAGS.sarSegmentSeqnum, 2)];
    const byParameters = readDelivery(deliver({ shortMessage: Buffer.from('a') }, sar), SETTINGS);
    assert.deepEqual(reply(byParameters)?.concatenation, { reference: 300, part: 2, parts: 2 });
  });

  test('a reply from an address that is not a number is read', () => {
    assert.equal(reply(readDelivery(deliver({ sourceAddr: '10086' }), SETTINGS))?.origin, '10086');
  });

  test('a reply that is not text is reported as octets', () => {
    const it = reply(readDelivery(deliver({ dataCoding: 4, shortMessage: Buffer.of(1, 2) }), SETTINGS));
    assert.deepEqual([it?.text, it?.isText, it?.coding, it?.octets.length], ['hex:0102', false, 4, 2]);
  });

  test('a reply in GBK is read', () => {
    const shortMessage = Buffer.from('cdcbb6a9', 'hex');
    assert.equal(reply(readDelivery(deliver({ dataCoding: 15, shortMessage }), SETTINGS))?.text, '退订');
  });

  test('a reply with a header has its text without it, whatever the alphabet', () => {
    const shortMessage = Buffer.from('0500030102015444', 'hex');
    const it = reply(readDelivery(deliver({ esmClass: 0x40, dataCoding: 4, shortMessage }), SETTINGS));
    assert.deepEqual([it?.text, it?.octets.toString('hex')], ['TD', '5444']);
  });
});

function deliver(fields: Partial<Fields<'deliverSm'>>, tlvs: readonly Tlv[] = []) {
  const all: Fields<'deliverSm'> = {
    serviceType: '',
    sourceAddrTon: 1,
    sourceAddrNpi: 1,
    sourceAddr: '8613800138000',
    destAddrTon: 0,
    destAddrNpi: 0,
    destinationAddr: '10690000',
    esmClass: 0,
    protocolId: 0,
    priorityFlag: 0,
    scheduleDeliveryTime: '',
    validityPeriod: '',
    registeredDelivery: 0,
    replaceIfPresentFlag: 0,
    dataCoding: 0,
    smDefaultMsgId: 0,
    shortMessage: Buffer.alloc(0),
    ...fields,
  };
  const pdu = { command: 'deliverSm', status: 0, sequence: 1, fields: all, tlvs } as const;
  return { pdu, frame: Buffer.from('a PDU') };
}
