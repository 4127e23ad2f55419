/** Text on its way into a submit_sm, and out of a deliver_sm. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SMPP_DEFAULTS, type SmppSettings } from '#model/sms-connector.ts';
import type { PartToSubmit } from '../carrier.ts';
import { readUserData } from '../text/concatenation.ts';
import { splitText } from '../text/split.ts';
import { composeSubmit } from './compose.ts';
import { encodeText, readContent } from './data-coding.ts';
import type { Fields, Tlv } from './layouts.ts';
import { readSarTlvs } from './sar.ts';
import { numberTlv, TAGS } from './tlvs.ts';

const SETTINGS: SmppSettings = { ...SMPP_DEFAULTS, kind: 'smpp', host: 'h', port: 2775, systemId: 'a', password: 'b' };
const PART: PartToSubmit = {
  partId: 65_543,
  destination: '+8613800138000',
  text: 'a',
  part: 1,
  parts: 1,
  reference: 0,
  sender: '',
  texts: [],
  partsLeft: 0,
};
const text = fc
  .string({
    unit: fc.oneof(
      fc.constantFrom('a', '€', '[', 'é', '中', '😀'),
      fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
    ),
    minLength: 1,
    maxLength: 268,
    size: 'max', // else none is so long that it has parts
  })
  .map((it) => it.replaceAll('\0', 'a').slice(0, 536).toWellFormed());

describe('the text of a submit_sm', () => {
  for (const concatenation of ['udh', 'sar'] as const)
    for (const gsm7 of [false, true])
      test(`the parts' octets are the text, by ${concatenation}, ${gsm7 ? 'with' : 'without'} GSM's alphabet`, () => {
        fc.assert(
          fc.property(text, fc.nat(255), (it, reference) => {
            const parts = submitsOf(it, { concatenation, gsm7 }, reference);
            const read = parts.map(({ fields, tlvs }) => {
              assert.ok(fields.shortMessage.length <= (fields.dataCoding === 0 ? 160 : 140));
              const userData =
                fields.esmClass === 0x40 ? readUserData(fields.shortMessage) : { octets: fields.shortMessage };
              const place = 'concatenation' in userData ? userData.concatenation : readSarTlvs(tlvs);
              return { text: readContent(fields.dataCoding, userData.octets).text, place };
            });
            assert.equal(read.map((part) => part.text).join(''), it);
            const expected = (_: unknown, n: number) => ({ reference, part: n + 1, parts: parts.length });
            assert.deepEqual(
              read.map(({ place }) => place),
              parts.length === 1 ? [undefined] : parts.map(expected),
            );
          }),
        );
      });

  test('70 emoji are split so that no part begins or ends with half of one (gammu#95)', () => {
    for (const { fields } of submitsOf('😀'.repeat(70), {}, 1))
      assert.ok(readContent(8, readUserData(fields.shortMessage).octets).text.isWellFormed());
  });

  test('152 letters and a euro sign: the escape and its letter stay together (gosmpp#197, gosmpp#198, sms-length#1, jsmpp#141)', () => {
    const parts = submitsOf(`${'a'.repeat(152)}€`, { gsm7: true }, 1);
    assert.equal(parts.length, 3);
    assert.equal(parts[2]?.fields.shortMessage.subarray(-2).toString('hex'), '1b65');
  });

  test('all parts of a message have one reference, also 0, and each one for its receipt (php8-smpp#36, onomondo-uicc#174)', () => {
    const parts = submitsOf('中'.repeat(200), {}, 0);
    assert.deepEqual(
      parts.map(({ fields }) => fields.shortMessage.subarray(0, 6).toString('hex')),
      ['050003000301', '050003000302', '050003000303'],
    );
    assert.deepEqual(
      parts.map(({ tlvs }) => numberTlv(tlvs, TAGS.userMessageReference)),
      [7, 8, 9],
    );
  });

  test('Han is sent as UCS-2 that says so, whatever the connector prefers (thingsboard#15477)', () => {
    for (const gsm7 of [false, true]) {
      const [part] = submitsOf('中', { gsm7 }, 0);
      assert.deepEqual([part?.fields.dataCoding, part?.fields.shortMessage.toString('hex')], [8, '4e2d']);
    }
    assert.equal(submitsOf('@é', { gsm7: true }, 0)[0]?.fields.shortMessage.toString('hex'), '0005');
    assert.equal(submitsOf('ê', { gsm7: true }, 0)[0]?.fields.dataCoding, 8);
  });

  const SENDERS: readonly [string, Partial<SmppSettings>, readonly unknown[]][] = [
    ['10690000', {}, [0, 0, '10690000']],
    ['Causeway', {}, [5, 0, 'Causeway']],
    ['+85261234567', {}, [1, 1, '85261234567']],
    ['10690000', { senderType: { ton: 3, npi: 9 } }, [3, 9, '10690000']],
  ];
  for (const [sender, settings, expected] of SENDERS)
    test(`a sender is encoded: ${sender} ${JSON.stringify(settings)}`, () => {
      const { fields } = composed({ ...PART, sender }, settings);
      assert.deepEqual([fields.sourceAddrTon, fields.sourceAddrNpi, fields.sourceAddr], expected);
    });

  const VALIDITIES: readonly [number | undefined, string][] = [
    [undefined, ''],
    [1, '000000000001000R'],
    [90_061, '000001010101000R'],
    [86_400 * 400, '000030000000000R'],
  ];
  for (const [validitySeconds, expected] of VALIDITIES)
    test(`a validity of ${validitySeconds} seconds is encoded`, () => {
      const part = validitySeconds === undefined ? PART : { ...PART, validitySeconds };
      assert.equal(composed(part, {}).fields.validityPeriod, expected);
    });

  test('a part that no carrier could accept is refused here', () => {
    const refusal = (part: Partial<PartToSubmit>) => {
      const it = composeSubmit({ ...PART, ...part }, SETTINGS);
      return it.kind === 'refused' ? [it.status, it.class] : undefined;
    };
    assert.deepEqual(refusal({ sender: '公司' }), ['0x0000000a', 'misconfigured']);
    assert.deepEqual(refusal({ sender: 'a'.repeat(21) }), ['0x0000000a', 'misconfigured']);
    assert.deepEqual(refusal({ destination: '13800138000' }), ['0x0000000b', 'permanent']);
    assert.deepEqual(refusal({ text: 'a'.repeat(161) }), ['0x00000001', 'permanent']);
  });

  test('a carrier of SMPP 3.3 gets no optional parameter', () => {
    assert.deepEqual(composed(PART, { interfaceVersion: 0x33 }).tlvs, []);
  });
});

describe('the text of a deliver_sm', () => {
  const CODINGS: readonly [number, string, string | undefined][] = [
    [0, '00610b1b65', '@aØ€'],
    [0, '1b', ' '],
    [1, '61e9', 'aé'],
    [3, '61e9', 'aé'],
    [8, '4e2dd83dde00', '中😀'],
    [8, '4e2dd83d', '中\ufffd'],
    [8, '4e2d00', '中'],
    [0x18, '4e2d', '中'],
    [0x11, '0061', '@a'],
    [0xf1, '0061', '@a'],
    [0xe0, '4e2d', '中'],
    [4, '0061', undefined],
    [0xf5, '0061', undefined],
    [0, 'cdcbb6a9', '退订'],
    [0, '4cfc', 'Lü'], // no GB18030, so it is Latin-1
    [0, '80cd', undefined],
    [1, 'cdcbb6a9', '退订'],
    [3, 'cdcbb6a9', 'ÍË¶©'],
    [15, 'cdcbb6a9', '退订'],
    [15, '8139ee39', '㐀'], // four octets, which GBK does not have
    [15, 'cd', undefined],
    [15, '', ''],
    [9, '900 08ba2'.replace(' ', ''), '退订'],
    [8, '900 08ba20000'.replace(' ', ''), '退订'],
    [0x19, '4e2d', '中'],
    [2, '5444', 'TD'],
    [4, '5444', 'TD'],
    [4, '544400', 'TD'],
    [4, 'cdcbb6a9', '退订'],
    [4, '01cd', undefined],
    [0xf6, '5444', undefined],
    [0xf4, '5444', 'TD'],
    [0x80, 'cdcbb6a9', '退订'],
    [6, 'b0b1', 'АБ'],
    [7, 'e0', 'א'],
    [14, 'b0a1', '가'],
    [13, 'a4a2', 'あ'],
    [5, '82a0', 'あ'],
    [10, '1b2442242 21b2842'.replace(' ', ''), 'あ'],
    [14, '5444', 'TD'],
  ];
  for (const [dataCoding, octets, expected] of CODINGS)
    test(`data_coding ${dataCoding} decodes ${octets}`, () => {
      const { text, isText } = readContent(dataCoding, Buffer.from(octets, 'hex'));
      assert.deepEqual([text, isText], expected === undefined ? [`hex:${octets}`, false] : [expected, true]);
    });

  const HEADERS: readonly [string, string, unknown][] = [
    ['05000307020141', '41', { reference: 7, part: 1, parts: 2 }],
    ['0608040107020241', '41', { reference: 0x107, part: 2, parts: 2 }],
    ['0804020000000300020141', '0141', undefined], // the second element has 3 octets where 0 remain
    ['0a050415000000000307020141', '0141', undefined],
    ['0b0504150000000003070201' + '41', '41', { reference: 7, part: 1, parts: 2 }],
    ['05000307020341', '41', undefined], // the third of two
    ['ff0003', 'ff0003', undefined],
    ['', '', undefined],
  ];
  for (const [octets, rest, concatenation] of HEADERS)
    test(`the header ${JSON.stringify(octets)} is read`, () => {
      const read = readUserData(Buffer.from(octets, 'hex'));
      assert.deepEqual([read.octets.toString('hex'), read.concatenation], [rest, concatenation]);
    });

  test('any octets of a deliver_sm can be read', () => {
    fc.assert(fc.property(fc.uint8Array(), (it) => void readUserData(Buffer.from(it))));
    fc.assert(
      fc.property(fc.nat(255), fc.uint8Array(), (coding, it) =>
        readContent(coding, Buffer.from(it)).text.isWellFormed(),
      ),
    );
  });

  test('GSM 03.38 is decoded to itself', () => {
    const all = '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?¡AZÄÖÑÜ§¿azäöñüà\f^{}\\[~]|€';
    const { dataCoding, octets } = encodeText(all, true);
    assert.equal(dataCoding, 0);
    assert.deepEqual(readContent(0, octets), { text: all, isText: true });
  });
});

interface Submit {
  readonly fields: Fields<'submitSm'>;
  readonly tlvs: readonly Tlv[];
}

function submitsOf(it: string, settings: Partial<SmppSettings>, reference: number): readonly Submit[] {
  const split = splitText(it);
  assert.ok(split.kind === 'parts');
  const { parts } = split;
  return parts.map((part, n) =>
    composed({ ...PART, partId: PART.partId + n, text: part, part: n + 1, parts: parts.length, reference }, settings),
  );
}

function composed(part: PartToSubmit, settings: Partial<SmppSettings>): Submit {
  const it = composeSubmit(part, { ...SETTINGS, ...settings });
  assert.ok(it.kind === 'request' && it.command === 'submitSm');
  return it;
}
