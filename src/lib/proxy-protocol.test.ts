import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { MAX_PROXY_HEADER_BYTES, readProxyHeader } from './proxy-protocol.ts';

const SIGNATURE = '0d0a0d0a000d0a515549540a';
const V4 = 'c0000201' + 'c6336402' + 'd903' + '01bb';
const V6 = '20010db8000000000000000000000001' + '20010db8000000000000000000000002' + 'd903' + '01bb';
/** ALPN and a no-op, encoded as in §2.2 of the specification. */
const TLVS = '010002' + '6832' + '040003' + '000000';

const binary = (rest: string) => Buffer.from(SIGNATURE + rest, 'hex');
const text = (line: string) => Buffer.from(line, 'latin1');
const sized = (start: string, body: string) => binary(start + (body.length / 2).toString(16).padStart(4, '0') + body);

const HEADERS: readonly (readonly [what: string, bytes: Buffer, client: string | undefined])[] = [
  ['version 2, TCP over IPv4', sized('2111', V4), '192.0.2.1'],
  ['version 2, TCP over IPv6', sized('2121', V6), '2001:db8::1'],
  ['version 2, IPv4 in IPv6', sized('2121', `00000000000000000000ffffc0000201${V6.slice(32)}`), '192.0.2.1'],
  ['version 2 with extensions', sized('2111', V4 + TLVS), '192.0.2.1'],
  ['version 2, longest', sized('2111', V4 + '00'.repeat(MAX_PROXY_HEADER_BYTES - 16 - 12)), '192.0.2.1'],
  ['version 2, LOCAL', sized('2000', ''), undefined],
  ['version 2, LOCAL with addresses', sized('2011', V4), undefined],
  ['version 2, LOCAL of an unknown family', sized('20ff', 'abcd'), undefined],
  ['version 2, unspecified', sized('2100', ''), undefined],
  ['version 2, a unix socket', sized('2131', '00'.repeat(216)), undefined],
  ['version 1, TCP over IPv4', text('PROXY TCP4 192.0.2.1 198.51.100.2 55555 443\r\n'), '192.0.2.1'],
  ['version 1, TCP over IPv6', text('PROXY TCP6 2001:DB8:0::1 2001:db8::2 55555 443\r\n'), '2001:db8::1'],
  ['version 1, unknown', text('PROXY UNKNOWN\r\n'), undefined],
  ['version 1, unknown with words', text('PROXY UNKNOWN a b c d\r\n'), undefined],
];

test('a header has the address of the client and where it ends, whatever follows', () => {
  for (const [what, bytes, client] of HEADERS) {
    const expected = { kind: 'header', sizeBytes: bytes.length, client };
    assert.deepEqual(readProxyHeader(bytes), expected, what);
    assert.deepEqual(readProxyHeader(Buffer.concat([bytes, bytes])), expected, what);
  }
});

test('every incomplete piece of a header may become one', () => {
  for (const [what, bytes] of HEADERS)
    for (let length = 0; length < bytes.length; length++)
      assert.deepEqual(readProxyHeader(bytes.subarray(0, length)), { kind: 'incomplete' }, `${what}, ${length} bytes`);
});

test('bytes that are not a header are recognised', () => {
  const rows: readonly (readonly [what: string, bytes: Buffer])[] = [
    ['HTTP', text('GET / HTTP/1.1\r\n')],
    ['POST, which begins alike', text('PO')],
    ['TLS', Buffer.from('160301', 'hex')],
    ['the next version', sized('3111', V4)],
    ['an unknown command', sized('2211', V4)],
    ['UDP', sized('2112', V4)],
    ['an unknown family', sized('2141', V4)],
    ['too short for IPv4', sized('2111', V4.slice(2))],
    ['too short for IPv6', sized('2121', V4)],
    ['too short for a unix socket', sized('2131', V6)],
    ['too long', binary('2111ffff')],
    ['version 1 without an address', text('PROXY TCP4\r\n')],
    ['version 1 of another family', text('PROXY TCP4 ::1 ::1 1 1\r\n')],
    ['version 1 with a zone', text('PROXY TCP6 fe80::1%eth0 ::1 1 1\r\n')],
    ['version 1 with a name', text('PROXY TCP4 a.example 192.0.2.1 1 1\r\n')],
    ['version 1 without ports', text('PROXY TCP4 192.0.2.1 192.0.2.2\r\n')],
    ['version 1 with a wrong port', text('PROXY TCP4 192.0.2.1 192.0.2.2 65536 1\r\n')],
    ['version 1 with two blanks', text('PROXY TCP4  192.0.2.1 192.0.2.2 1 1\r\n')],
    ['version 1 of UDP', text('PROXY UDP4 192.0.2.1 192.0.2.2 1 1\r\n')],
    ['version 1 that does not end', text(`PROXY UNKNOWN ${'x'.repeat(100)}`)],
    ['version 1 with a bare line feed', text(`PROXY TCP4 192.0.2.1 192.0.2.2 1 1\n${'x'.repeat(107)}`)],
  ];
  for (const [what, bytes] of rows) assert.deepEqual(readProxyHeader(bytes), { kind: 'malformed' }, what);
});

test('no bytes make the reader throw, and more bytes never change its result', () => {
  const start = fc.constantFrom('', SIGNATURE, `${SIGNATURE}21`, `${SIGNATURE}2111`, `${SIGNATURE}212100`);
  const word = fc.constantFrom('PROXY ', 'PROXY TCP4 1.2.3.4 ', 'PROXY TCP6 ', 'PROXY UNKNOWN');
  const bytes = fc
    .tuple(
      fc.oneof(
        start.map((hex) => Buffer.from(hex, 'hex')),
        word.map((line) => Buffer.from(line)),
      ),
      fc.uint8Array({ maxLength: 300 }),
    )
    .map((parts) => Buffer.concat(parts));
  fc.assert(
    fc.property(bytes, (all) => {
      const said = readProxyHeader(all);
      const firsts = Array.from({ length: all.length }, (_, length) => readProxyHeader(all.subarray(0, length)));
      for (const first of firsts) if (first.kind !== 'incomplete') assert.deepEqual(first, said);
      if (said.kind === 'header') assert.ok(said.sizeBytes <= Math.min(all.length, MAX_PROXY_HEADER_BYTES));
    }),
    { seed: 4, numRuns: 2_000 },
  );
});
