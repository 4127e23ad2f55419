import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { anyPacket } from '../../../test/support/sms/any-packet.ts';
import { cmppTable } from '../cmpp/layouts.ts';
import { SGIP } from '../sgip/layouts.ts';
import { SMGP } from '../smgp/layouts.ts';
import { content, FixedCodec, fixedText, hex, list, type Table, u8, u32 } from './fixed-codec.ts';

const SEQUENCE = 'b36aab59434c432800000005';

const PROTOCOLS: Readonly<Record<string, { readonly table: Table; readonly isLong: boolean }>> = {
  'CMPP 2.0': { table: cmppTable('2.0'), isLong: false },
  'CMPP 3.0': { table: cmppTable('3.0'), isLong: false },
  SMGP: { table: SMGP.table, isLong: false },
  SGIP: { table: SGIP.table, isLong: true },
};

for (const [name, { table, isLong }] of Object.entries(PROTOCOLS))
  describe(`codec of ${name}`, () => {
    const codec = isLong ? new FixedCodec(table, hex(12)) : new FixedCodec(table, u32);
    const sequence = isLong ? SEQUENCE : 7;
    // `as`: which of both it is does not matter here.
    const encode = (it: { readonly command: string; readonly fields: object }) =>
      codec.encode({ ...it, sequence } as never);

    test('every packet comes back as it was, with what follows its fields', () => {
      fc.assert(
        fc.property(anyPacket(table), fc.uint8Array({ maxLength: 9 }), (it, surplus) => {
          const octets = Buffer.concat([encode(it), surplus]);
          octets.writeUInt32BE(octets.length);
          const read = codec.decode(octets);
          assert.ok(read.command !== 'unknown' && 'fields' in read);
          assert.deepEqual([read.command, read.sequence, read.fields], [it.command, sequence, it.fields]);
          assert.deepEqual([read.missing, read.rest], [undefined, Buffer.from(surplus)]);
        }),
        { numRuns: 500 },
      );
    });

    test('a packet that is cut anywhere is read up to the cut', () => {
      fc.assert(
        fc.property(anyPacket(table), (it) => {
          const whole = encode(it);
          const layout = table[it.command]?.fields ?? {};
          const names = Object.keys(layout).filter((field) => layout[field]?.kind !== 'none');
          for (let end = isLong ? 20 : 12; end < whole.length; end += 1) {
            const read = codec.decode(whole.subarray(0, end));
            assert.ok(read.command !== 'unknown' && 'fields' in read);
            assert.deepEqual([read.command, read.sequence], [it.command, sequence]);
            const { missing = '' } = read;
            assert.ok(names.includes(missing), `${end} of ${whole.length}`);
            // Of a content or a list before the missing field the end may be lost.
            const sure = names.slice(0, Math.max(0, names.indexOf(missing) - 1));
            for (const known of sure) assert.deepEqual(read.fields[known as never], it.fields[known], known);
          }
        }),
        { numRuns: 60 },
      );
    });

    test('an unknown command is told by its number', () => {
      const octets = Buffer.concat([
        Buffer.from('00000010000000ff', 'hex'),
        Buffer.from(isLong ? SEQUENCE : '00000007', 'hex'),
      ]);
      assert.deepEqual(codec.decode(octets), { command: 'unknown', id: 0xff, sequence });
    });
  });

const TABLE = {
  all: { id: 1, fields: { number: u8, word: fixedText(4), digits: hex(2), several: list(3), body: content('u8') } },
} as const;
const CODEC = new FixedCodec(TABLE, u32);
const FIELDS = { number: 1, word: 'ab', digits: 'beef', several: ['x', 'yz'], body: Buffer.from('hi') };

test('texts are filled with NULs, and lists and contents have their length before them', () => {
  const octets = CODEC.encode({ command: 'all', sequence: 2, fields: FIELDS });
  assert.equal(
    octets.toString('hex'),
    '0000001d0000000100000002' + '01' + '61620000' + 'beef' + '02780000797a00' + '026869',
  );
});

test('a length beyond the end means the rest', () => {
  const octets = CODEC.encode({ command: 'all', sequence: 2, fields: FIELDS });
  octets[octets.length - 3] = 200;
  const read = CODEC.decode(octets);
  assert.ok(read.command === 'all');
  assert.deepEqual([read.fields.body.toString(), read.missing], ['hi', undefined]);
});

test('texts are read up to their NUL and without blanks around them', () => {
  const octets = CODEC.encode({ command: 'all', sequence: 2, fields: { ...FIELDS, word: ' ab ' } });
  const read = CODEC.decode(octets);
  assert.ok(read.command === 'all');
  assert.equal(read.fields.word, 'ab');
});

test('a value that does not fit its field is refused before it is sent', () => {
  const wrong = [
    { number: 256 },
    { word: 'abcde' },
    { word: 'a\0b' },
    { word: '类' },
    { digits: 'bee' },
    { digits: 'beeg' },
    { several: ['abcd'] },
    { body: Buffer.alloc(256) },
  ];
  for (const it of wrong)
    assert.throws(() => CODEC.encode({ command: 'all', sequence: 2, fields: { ...FIELDS, ...it } }), RangeError);
});
