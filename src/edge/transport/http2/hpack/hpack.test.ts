import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { createFieldMaker, HpackDecoder, TABLE_BYTES } from './decoder.ts';
import { entryBytes } from './dynamic-table.ts';
import { encodeFields } from './encoder.ts';
import { CODE_BITS, decodeHuffman, huffmanCodes, maxDecodedBytes } from './huffman.ts';
import { readPrefixInteger, writeInteger } from './integers.ts';
import { STATIC_FIELDS } from './static-table.ts';

interface Field {
  readonly name: string;
  readonly value: string;
}

const MAKER = createFieldMaker((name, value): Field => ({ name, value }));
const NO_LIMIT = Number.POSITIVE_INFINITY;

function decode(decoder: HpackDecoder<Field>, bytes: Buffer, maxListBytes = NO_LIMIT) {
  const fields: Field[] = [];
  const reading = decoder.decode(bytes, 0, bytes.length, fields, maxListBytes);
  return { reading, fields: fields.map(({ name, value }) => `${name}: ${value}`) };
}

/** Size of the decoder's dynamic table: the sum of the fields that a section can refer to. RFC 7541 §4.1 */
function tableBytesOf(decoder: HpackDecoder<Field>): number {
  const fields: Field[] = [];
  const bytes = Buffer.alloc(8);
  for (let index = STATIC_FIELDS.length + 1; ; index += 1) {
    const end = writeInteger(bytes, 0, index, 7, 0x80);
    if (decoder.decode(bytes, 0, end, fields, NO_LIMIT) === 'malformed') break;
  }
  return fields.reduce((sum, field) => sum + entryBytes(field), 0);
}

/** Encodes text in Huffman code, as a client does. */
function codeHuffman(text: string): Buffer {
  const codes = huffmanCodes();
  let bits = '';
  for (const byte of Buffer.from(text, 'latin1'))
    bits += (codes[byte] ?? 0).toString(2).padStart(CODE_BITS[byte] ?? 0, '0');
  bits = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from((bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2)));
}

function decodeText(bytes: Buffer): string | undefined {
  const into = Buffer.alloc(maxDecodedBytes(bytes.length));
  const made = decodeHuffman(bytes, 0, bytes.length, into);
  return made < 0 ? undefined : into.toString('latin1', 0, made);
}

describe('the examples of RFC 7541 appendix C', () => {
  const REQUESTS = [
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com'],
    [':method: GET', ':scheme: http', ':path: /', ':authority: www.example.com', 'cache-control: no-cache'],
    [':method: GET', ':scheme: https', ':path: /index.html', ':authority: www.example.com', 'custom-key: custom-value'],
  ];
  const rows: readonly (readonly [
    what: string,
    sections: readonly string[],
    fields: readonly (readonly string[])[],
    tableBytes: number,
  ])[] = [
    ['C.2.1', ['400a637573746f6d2d6b65790d637573746f6d2d686561646572'], [['custom-key: custom-header']], 55],
    ['C.2.2', ['040c2f73616d706c652f70617468'], [[':path: /sample/path']], 0],
    ['C.2.3', ['100870617373776f726406736563726574'], [['password: secret']], 0],
    ['C.2.4', ['82'], [[':method: GET']], 0],
    [
      'C.3',
      [
        '828684410f7777772e6578616d706c652e636f6d',
        '828684be58086e6f2d6361636865',
        '828785bf400a637573746f6d2d6b65790c637573746f6d2d76616c7565',
      ],
      REQUESTS,
      164,
    ],
    [
      'C.4',
      [
        '828684418cf1e3c2e5f23a6ba0ab90f4ff',
        '828684be5886a8eb10649cbf',
        '828785bf408825a849e95ba97d7f8925a849e95bb8e8b4bf',
      ],
      REQUESTS,
      164,
    ],
  ];
  for (const [what, sections, fields, tableBytes] of rows) {
    test(`RFC 7541 appendix ${what} is decoded`, () => {
      const decoder = new HpackDecoder(MAKER);
      for (const [index, section] of sections.entries())
        assert.deepEqual(decode(decoder, Buffer.from(section, 'hex')), { reading: 'whole', fields: fields[index] });
      assert.equal(tableBytesOf(decoder), tableBytes);
    });
  }

  test('RFC 7541 appendix C.6 is decoded: answers, with a table of 256 bytes from which fields are evicted', () => {
    const decoder = new HpackDecoder(MAKER);
    const first = [':status: 302', 'cache-control: private', 'date: Mon, 21 Oct 2013 20:13:21 GMT'];
    const location = 'location: https://www.example.com';
    const cookie = 'set-cookie: foo=ASDJKHQKBZXOQWEOPIUAXQWEOIU; max-age=3600; version=1';
    const rows: readonly (readonly [section: string, fields: readonly string[], tableBytes: number])[] = [
      [
        '3fe101' + // the size, which in the example was agreed on before
          '488264025885aec3771a4b6196d07abe941054d444a8200595040b8166e082a62d1bff6e919d29ad171863c78f0b97c8e9ae82ae43d3',
        [...first, location],
        222,
      ],
      ['4883640effc1c0bf', [':status: 307', ...first.slice(1), location], 222],
      [
        '88c16196d07abe941054d444a8200595040b8166e084a62d1bffc05a839bd9ab77ad94e7821dd7f2e6c7b335dfdfcd5b3960d5af27087f3672c1ab270fb5291f9587316065c003ed4ee5b1063d5007',
        [
          ':status: 200',
          'cache-control: private',
          'date: Mon, 21 Oct 2013 20:13:22 GMT',
          location,
          'content-encoding: gzip',
          cookie,
        ],
        215,
      ],
    ];
    for (const [section, fields, tableBytes] of rows) {
      assert.deepEqual(decode(decoder, Buffer.from(section, 'hex')), { reading: 'whole', fields });
      assert.equal(tableBytesOf(decoder), tableBytes);
    }
  });
});

test('integers are decoded: those of appendix C.1, and any others', () => {
  const rows: readonly (readonly [hex: string, prefixBits: number, value: number])[] = [
    ['0a', 5, 10],
    ['1f9a0a', 5, 1337],
    ['2a', 8, 42],
    ['7f00', 7, 127],
    ['1fe0ffffff07', 5, -1], // five bytes behind the first
    ['1f80808080', 5, -1],
    ['1f', 5, -1],
    ['', 5, -1],
  ];
  for (const [hex, prefixBits, value] of rows) {
    const bytes = Buffer.from(hex, 'hex');
    assert.equal(readPrefixInteger({ bytes, at: 0, end: bytes.length }, prefixBits), value, hex);
  }
  fc.assert(
    fc.property(fc.nat({ max: 2 ** 28 }), fc.integer({ min: 1, max: 7 }), (value, prefixBits) => {
      const bytes = Buffer.alloc(8);
      const end = writeInteger(bytes, 0, value, prefixBits, 0x80);
      const cursor = { bytes, at: 0, end };
      assert.equal(readPrefixInteger(cursor, prefixBits), value);
      assert.equal(cursor.at, end);
    }),
    { seed: 1 },
  );
});

describe('Huffman texts', () => {
  test('any text is decoded to itself, with no byte more or less', () => {
    assert.equal(decodeText(Buffer.from('f1e3c2e5f23a6ba0ab90f4ff', 'hex')), 'www.example.com');
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        const text = Buffer.from(bytes).toString('latin1');
        assert.equal(decodeText(codeHuffman(text)), text);
      }),
      { seed: 1, numRuns: 300 },
    );
  });

  test('a Huffman text with wrong padding is refused', () => {
    const rows: readonly (readonly [hex: string, text: string | undefined])[] = [
      ['07', '0'], // 00000 and padding
      ['00', undefined], // padding that is not ones
      ['07ff', undefined], // a byte of padding
      ['ff', undefined],
      ['ffffffff', undefined], // the end of a string
      ['fffffffc', undefined],
      ['', ''],
    ];
    for (const [hex, text] of rows) assert.equal(decodeText(Buffer.from(hex, 'hex')), text, hex);
  });
});

describe('invalid header sections', () => {
  const rows: readonly (readonly [what: string, hex: string])[] = [
    ['index 0', '80'],
    ['an index beyond both tables', 'be'],
    ['an index without end', 'ff8080'],
    ['a name beyond both tables', '7f0000'],
    ['a literal without a value', '4001'],
    ['a name that is longer than the rest', '400561'],
    ['a value that is longer than the rest', '40016105'],
    ['a table larger than it may be', '3fe21f'],
    ['another size of the table behind a field', '823fe11f'],
    ['a Huffman text with bad padding', '0001618100'],
  ];
  for (const [what, hex] of rows) {
    test(`RFC 7541 appendix ${what} is decoded`, () =>
      assert.equal(decode(new HpackDecoder(MAKER), Buffer.from(hex, 'hex')).reading, 'malformed'));
  }
});

test('fields beyond the size of the list are left out of it, and enter the table all the same', () => {
  const decoder = new HpackDecoder(MAKER);
  const large = Buffer.concat([Buffer.from([0x40, 1, 0x61, 0x7f, 0xa1, 0x1e]), Buffer.alloc(4000, 'x')]);
  assert.deepEqual(decode(decoder, Buffer.concat([Buffer.from([0x82]), large, Buffer.from([0x84])]), 200), {
    reading: 'tooLarge',
    fields: [':method: GET'],
  });
  assert.deepEqual(decode(decoder, Buffer.from([0xbe])).fields, [`a: ${'x'.repeat(4000)}`]);
  assert.equal(decode(decoder, Buffer.alloc(10_000, 0xbe), 64 * 1024).reading, 'tooLarge');
});

test('a table never grows beyond its size, and is emptied by a larger field', () => {
  const decoder = new HpackDecoder(MAKER);
  const literal = (length: number) =>
    Buffer.concat([
      Buffer.from([0x40, 1, 0x61]),
      Buffer.from([0x7f, ...lengthBytes(length)]),
      Buffer.alloc(length, 'x'),
    ]);
  for (let length = 127; length < 4_000; length += 131) {
    assert.equal(decode(decoder, literal(length)).reading, 'whole');
    assert.ok(tableBytesOf(decoder) <= TABLE_BYTES);
  }
  decode(decoder, literal(5_000));
  assert.equal(tableBytesOf(decoder), 0);
  decode(decoder, literal(200));
  decode(decoder, Buffer.from([0x20]));
  assert.equal(tableBytesOf(decoder), 0);
});

function lengthBytes(length: number): number[] {
  const bytes = Buffer.alloc(8);
  return [...bytes.subarray(1, writeInteger(bytes, 0, length, 7, 0))];
}

test("the encoder's output is read by the decoder, again and again, and changes no table", () => {
  const decoder = new HpackDecoder(MAKER);
  const text = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('latin1'));
  const name = fc.constantFrom(':status', 'content-type', 'x-own', 'set-cookie', 'age');
  fc.assert(
    fc.property(
      fc.array(fc.tuple(name, fc.oneof(text, fc.constantFrom('200', '404', '999'))), { maxLength: 20 }),
      (pairs) => {
        const section = encodeFields(pairs.flat());
        assert.deepEqual(decode(decoder, section), { reading: 'whole', fields: pairs.map((pair) => pair.join(': ')) });
        assert.equal(tableBytesOf(decoder), 0);
      },
    ),
    { seed: 1, numRuns: 300 },
  );
});

test('any bytes are a section or refused, and the table stays bounded', () => {
  const decoder = new HpackDecoder(MAKER);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
      const { fields, reading } = decode(decoder, Buffer.from(bytes), 1_000);
      assert.ok(['whole', 'tooLarge', 'malformed'].includes(reading));
      assert.ok(fields.reduce((sum, field) => sum + field.length + 30, 0) <= 1_000);
      assert.ok(tableBytesOf(decoder) <= TABLE_BYTES);
    }),
    { seed: 1, numRuns: 5_000 },
  );
});
