import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyPdu } from '../../../test/support/sms/any-pdu.ts';
import { FrameReader } from '../wire/frames.ts';
import { decodePdu } from './decode.ts';
import { FRAMES } from './dialect.ts';
import { encodePdu } from './encode.ts';
import { type Fields, LAYOUTS, type Pdu, RESPONSE_BIT } from './layouts.ts';
import { numberTlv, TAGS, textTlv } from './tlvs.ts';

const BIND: Fields<'bindTransceiver'> = {
  ...{ systemId: 'a', password: 'b', systemType: '', interfaceVersion: 0x34 },
  ...{ addrTon: 0, addrNpi: 0, addressRange: '' },
};

describe('SMPP codec', () => {
  test('every PDU with any optional parameters comes back as it was', () => {
    fc.assert(
      fc.property(anyPdu, (it) => {
        const octetsOfIt = encodePdu(it);
        assert.equal(octetsOfIt.readUInt32BE(0), octetsOfIt.length);
        assert.deepEqual(decodePdu(octetsOfIt), { kind: 'pdu', pdu: it });
      }),
      { numRuns: 500 },
    );
  });

  test('any octets of a PDU are decoded without an error', () => {
    fc.assert(
      fc.property(anyPdu, fc.nat(), fc.nat(255), (it, at, octet) => {
        const changed = encodePdu(it);
        changed.writeUInt8(octet, at % changed.length);
        assert.ok(['pdu', 'unknown'].includes(decodePdu(changed).kind));
      }),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(
        fc.uint8Array({ minLength: 16, maxLength: 90, size: 'max' }),
        (it) => void decodePdu(Buffer.from(it)),
      ),
    );
  });

  test('a PDU that is cut anywhere is read up to the cut', () => {
    fc.assert(
      fc.property(anyPdu, (it) => {
        const whole = encodePdu(it);
        const names = Object.keys(it.fields);
        // An answer without any body is whole.
        for (let end = LAYOUTS[it.command].id >= RESPONSE_BIT ? 17 : 16; end < whole.length; end += 1) {
          const decoded = decodePdu(whole.subarray(0, end));
          assert.ok(decoded.kind === 'pdu');
          const { pdu, missing } = decoded;
          assert.deepEqual([pdu.command, pdu.status, pdu.sequence], [it.command, it.status, it.sequence]);
          // The field before the missing one may have lost its end.
          const known = missing === undefined ? names : names.slice(0, names.indexOf(missing));
          for (const name of known.slice(0, -1)) assert.deepEqual(fieldOf(pdu, name), fieldOf(it, name), name);
          if (missing === undefined) assert.ok(pdu.tlvs.length <= it.tlvs.length);
        }
      }),
      { numRuns: 60 },
    );
  });

  test('surplus octets at the end of a PDU are ignored', () => {
    fc.assert(
      fc.property(anyPdu, fc.uint8Array({ minLength: 1, maxLength: 3 }), (it, surplus) => {
        const isAnswerWithoutBody = it.command === 'genericNack' || Object.keys(it.fields).length === 0;
        const decoded = decodePdu(Buffer.concat([encodePdu(it), surplus]));
        assert.ok(decoded.kind === 'pdu');
        assert.deepEqual(decoded.pdu.fields, it.fields);
        if (it.tlvs.length > 0 || isAnswerWithoutBody) assert.deepEqual(decoded.pdu.tlvs, it.tlvs);
      }),
      { numRuns: 500 },
    );
  });

  test('surplus octets before the parameters are skipped', () => {
    const tlvs = [{ tag: TAGS.receiptedMessageId, value: Buffer.from('39f99dd5\0') }];
    const it = encodePdu({ ...DELIVER, tlvs });
    const end = it.length - 13;
    for (const surplus of ['00', 'ff', '0000', '41ff', '000000', '414243']) {
      const octets = Buffer.concat([it.subarray(0, end), Buffer.from(surplus, 'hex'), it.subarray(end)]);
      const decoded = decodePdu(octets);
      assert.deepEqual(decoded.kind === 'pdu' && decoded.pdu.tlvs, tlvs, surplus);
    }
  });

  test('a length that points beyond the end of the PDU means the rest of it', () => {
    const submit = Buffer.from(SUBMIT, 'hex');
    for (const [name, at, value, text, tlvs] of [
      ['sm_length', 49, 200, '4f60597d020400020007', 0],
      ['sm_length past the parameters', 49, 5, '4f60597d02', 0],
      ['the length of a parameter', 57, 9, '4f60597d', 0],
    ] as const) {
      const lying = Buffer.from(submit);
      lying[at] = value;
      const decoded = decodePdu(lying);
      assert.ok(decoded.kind === 'pdu' && decoded.pdu.command === 'submitSm');
      assert.deepEqual([decoded.pdu.fields.shortMessage.toString('hex'), decoded.pdu.tlvs.length], [text, tlvs], name);
      assert.equal(decoded.missing, undefined, name);
    }
  });

  test('a text without its NUL ends with its PDU', () => {
    const octets = encodePdu({
      command: 'submitSmResp',
      status: 0,
      sequence: 5,
      fields: { messageId: '1a' },
      tlvs: [],
    });
    const cut = octets.subarray(0, octets.length - 1);
    const decoded = decodePdu(cut);
    assert.deepEqual(decoded.kind === 'pdu' && decoded.pdu.fields, { messageId: '1a' });
    assert.deepEqual(decoded.kind === 'pdu' && decoded.missing, undefined);
  });

  test('golden octets of submit_sm are written', () => {
    const decoded = decodePdu(Buffer.from(SUBMIT, 'hex'));
    assert.ok(decoded.kind === 'pdu' && decoded.pdu.command === 'submitSm');
    assert.equal(decoded.pdu.fields.destinationAddr, '8613800138000');
    assert.equal(decoded.pdu.fields.shortMessage.toString('hex'), '4f60597d');
    assert.equal(numberTlv(decoded.pdu.tlvs, TAGS.userMessageReference), 7);
    assert.equal(encodePdu(decoded.pdu).toString('hex'), SUBMIT);
  });

  test('a vendor’s parameter is kept and does no harm (ksmppd#133, node-smpp#231)', () => {
    const tlvs = [
      { tag: 0x1501, value: Buffer.from('x') },
      { tag: 0xffff, value: Buffer.alloc(0) },
    ];
    const it = encodePdu({ command: 'enquireLink', status: 0, sequence: 1, fields: {}, tlvs });
    const decoded = decodePdu(it);
    assert.deepEqual(decoded.kind === 'pdu' && decoded.pdu.tlvs, tlvs);
  });

  test('an answer without a body is valid', () => {
    const bare = Buffer.from('00000010800000040000005800000005', 'hex');
    assert.deepEqual(decodePdu(bare), {
      kind: 'pdu',
      pdu: { command: 'submitSmResp', status: 0x58, sequence: 5, fields: { messageId: '' }, tlvs: [] },
    });
  });

  test('an unknown command of SMPP 3.4 is told apart from a malformed one', () => {
    const it = Buffer.from('00000010000001120000000000000005', 'hex');
    assert.deepEqual(decodePdu(it), { kind: 'unknown', id: 0x112, sequence: 5 });
  });

  test('a receipted id ends at its NUL, or at its end', () => {
    const value = (text: string) => [{ tag: TAGS.receiptedMessageId, value: Buffer.from(text, 'latin1') }];
    assert.equal(textTlv(value('39f99dd5\0'), TAGS.receiptedMessageId), '39f99dd5');
    assert.equal(textTlv(value('39f99dd5'), TAGS.receiptedMessageId), '39f99dd5');
  });

  test('a value that does not fit its field is refused before it is sent', () => {
    for (const wrong of [
      { systemId: 'sixteen letters.' },
      { password: 'a\0b' },
      { systemType: '类型' },
      { addrTon: 256 },
    ]) {
      const fields = { ...BIND, ...wrong };
      assert.throws(
        () => encodePdu({ command: 'bindTransceiver', status: 0, sequence: 1, fields, tlvs: [] }),
        RangeError,
      );
    }
  });
});

describe('SMPP frames', () => {
  test('the stream is split into the same PDUs, however it is cut', () => {
    fc.assert(
      fc.property(
        fc.array(anyPdu, { minLength: 1, maxLength: 5 }),
        fc.array(fc.nat(200), { maxLength: 20, size: 'max' }),
        (pdus, cuts) => {
          const frames = pdus.map(encodePdu);
          const stream = Buffer.concat(frames);
          const reader = new FrameReader(FRAMES);
          const got: Buffer[] = [];
          let at = 0;
          for (const cut of [...cuts, stream.length]) {
            const read = reader.push(stream.subarray(at, at + cut));
            assert.equal(read.kind, 'frames');
            got.push(...read.frames);
            at += cut;
          }
          assert.deepEqual(got, frames);
        },
      ),
    );
  });

  for (const length of [0, 8, 15, FRAMES.maxOctets + 1, 0x7fffffff, 0xffffffff])
    test(`a length of ${length} ends the stream after the PDUs before it`, () => {
      const before = Buffer.from('00000010000000150000000000000001', 'hex');
      const head = Buffer.alloc(4);
      head.writeUInt32BE(length);
      const read = new FrameReader(FRAMES).push(Buffer.concat([before, head]));
      assert.deepEqual([read.kind, read.frames], ['malformed', [before]]);
    });
});

function fieldOf(pdu: Pdu, name: string): unknown {
  return (pdu.fields as Readonly<Record<string, unknown>>)[name];
}

const DELIVER = {
  command: 'deliverSm',
  status: 0,
  sequence: 7,
  fields: {
    ...{ serviceType: '', sourceAddrTon: 1, sourceAddrNpi: 1, sourceAddr: '8613800138000' },
    ...{ destAddrTon: 0, destAddrNpi: 0, destinationAddr: '1069', esmClass: 4, protocolId: 0, priorityFlag: 0 },
    ...{ scheduleDeliveryTime: '', validityPeriod: '', registeredDelivery: 0, replaceIfPresentFlag: 0 },
    ...{ dataCoding: 0, smDefaultMsgId: 0, shortMessage: Buffer.from('id:1') },
  },
} as const;

/** sm_length at 49, then the text, then user_message_reference. */
const SUBMIT =
  '0000003c00000004000000000000000200000031303639000101383631333830303133383030300000000000000100080004' +
  '4f60597d020400020007';
