import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RawHeaders } from '#http/headers.ts';
import { type ReaderOwner, ResponseReader } from './response-reader.ts';

interface Read {
  /** How the response ended: before its connection, with it, or not at all; or why it was refused. */
  readonly end: 'whole' | 'whole at the end' | 'cut' | string;
  readonly interims: readonly number[];
  readonly status: number;
  readonly reason: string;
  readonly headers: RawHeaders;
  readonly body: string;
  readonly isLast: boolean;
  readonly idleMs: number;
  /** Bytes after the response. */
  readonly surplus: number;
}

/** `pieceBytes`: size of the pieces in which the text arrives. */
function read(text: string, isHeadRequest = false, pieceBytes = text.length): Read {
  const interims: number[] = [];
  let [status, reason, body] = [0, '', ''];
  let headers: RawHeaders = [];
  const owner: ReaderOwner = {
    onInterim: (interim) => void interims.push(interim),
    onHead: (head) => {
      ({ status, reason, headers } = head);
    },
    onBody: (bytes) => {
      body += bytes.toString('latin1');
    },
  };
  const reader = new ResponseReader(owner);
  reader.expect(isHeadRequest);
  const bytes = Buffer.from(text, 'latin1');
  let at = 0;
  while (at < bytes.length && !reader.isOver && reader.fault === undefined) {
    const piece = bytes.subarray(at, at + pieceBytes);
    at += reader.read(piece, 0);
  }
  const early = reader.isOver ? 'whole' : reader.fault?.failure;
  const end = early ?? (reader.end() ? 'whole at the end' : 'cut');
  const { isLast, idleMs } = reader;
  return { end, interims, status, reason, headers, body, isLast, idleMs, surplus: bytes.length - at };
}

const OK = 'HTTP/1.1 200 OK\r\n';
const refused = { end: 'originMalformed' };
const tooLarge = { end: 'originHeaderTooLarge' };
const of = (fields: string, body = '') => `${OK}${fields}\r\n${body}`;
const chunked = (chunks: string) => of('Transfer-Encoding: chunked\r\n', chunks);
const kept = { end: 'whole', isLast: false };
const last = { end: 'whole', isLast: true };
const untilEnd = { end: 'whole at the end', isLast: true, body: 'abc' };

type Row = readonly [what: string, text: string, expected: Partial<Read>, isHeadRequest?: boolean];

const TABLES: Readonly<Record<string, readonly Row[]>> = {
  'status lines, RFC 9112 §4': [
    ['a plain one', of('Content-Length: 3\r\n', 'abc'), { ...kept, status: 200, reason: 'OK', body: 'abc' }],
    ['no reason', 'HTTP/1.1 200 \r\nContent-Length: 0\r\n\r\n', { ...kept, reason: '' }],
    ['no space behind the status', 'HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n', { ...kept, reason: '' }],
    ['a status beyond 599', 'HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n', { ...kept, status: 999 }],
    ['HTTP/0.9', 'HTTP/0.9 200 OK\r\n\r\n', refused],
    ['HTTP/1.2', 'HTTP/1.2 200 OK\r\n\r\n', refused],
    ['HTTP/2.0', 'HTTP/2.0 200 OK\r\n\r\n', refused],
    ['HTTP/2', 'HTTP/2 200\r\n\r\n', refused],
    ['lower case', 'http/1.1 200 OK\r\n\r\n', refused],
    ['an empty line before it', `\r\n${OK}\r\n`, refused],
    ['a status below 100', 'HTTP/1.1 099 OK\r\n\r\n', refused],
    ['a status of two digits', 'HTTP/1.1 20 OK\r\n\r\n', refused],
    ['a status of four digits', 'HTTP/1.1 2000 OK\r\n\r\n', refused],
    ['a letter in the status', 'HTTP/1.1 2x0 OK\r\n\r\n', refused],
    ['two spaces', 'HTTP/1.1  200 OK\r\n\r\n', refused],
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n', refused],
    ['the beginning of another protocol', 'SSH', refused],
    ['the beginning of a head', 'HTTP/1.', { end: 'cut' }],
  ],
  'line ends and bytes, RFC 9112 §2.2, §5': [
    ['a bare LF behind the status line', 'HTTP/1.1 200 OK\n\r\n', refused],
    ['a bare LF behind a field', of('A: b\n'), refused],
    ['a bare LF at the end', 'HTTP/1.1 200 OK\r\nA: b\r\n\n', refused],
    ['a bare CR in a value', of('A: b\rc\r\n'), refused],
    ['a bare CR in the reason', 'HTTP/1.1 200 O\rK\r\n\r\n', refused],
    ['two CRs', of('A: b\r\r\n'), refused],
    ['NUL in a value', of('A: b\0c\r\n'), refused],
    ['DEL in a value', of('A: b\x7fc\r\n'), refused],
    ['a control byte in the reason', 'HTTP/1.1 200 O\x01K\r\n\r\n', refused],
    ['a tab and bytes beyond ASCII', of('A: b\t\xe9\r\n'), { ...untilEnd, body: '', headers: ['A', 'b\t\xe9'] }],
    ['blanks around a value', of('A: \t b \t \r\n'), { ...untilEnd, body: '', headers: ['A', 'b'] }],
    ['an empty value', of('A:\r\nB: \r\n'), { ...untilEnd, body: '', headers: ['A', '', 'B', ''] }],
    ['no colon', of('A b\r\n'), refused],
    ['a blank before the colon', of('A : b\r\n'), refused],
    ['an empty name', of(': b\r\n'), refused],
    ['a byte that is no token in a name', of('A(: b\r\n'), refused],
    ['a folded line, RFC 9112 §5.2', of('A: b\r\n c\r\n'), refused],
    ['a folded line by a tab', of('A: b\r\n\tc\r\n'), refused],
    ['a folded first line', of(' A: b\r\n'), refused],
  ],
  'lengths, RFC 9112 §6.3': [
    ['two different', of('Content-Length: 5\r\nContent-Length: 6\r\n', 'abcde'), refused],
    ['a list of different ones', of('Content-Length: 5, 6\r\n', 'abcde'), refused],
    ['a list with an empty member', of('Content-Length: 5,\r\n', 'abcde'), refused],
    ['a sign', of('Content-Length: +5\r\n', 'abcde'), refused],
    ['a negative one', of('Content-Length: -5\r\n', 'abcde'), refused],
    ['hex', of('Content-Length: 0x5\r\n', 'abcde'), refused],
    ['a blank inside', of('Content-Length: 1 2\r\n', 'abcde'), refused],
    ['an empty one', of('Content-Length: \r\n', 'abcde'), refused],
    ['more than 2^53', of('Content-Length: 9007199254740993\r\n', 'abcde'), refused],
    ['beyond 64 bits', of('Content-Length: 18446744073709551617\r\n', 'abcde'), refused],
    [
      'two equal lines are one',
      of('Content-Length: 3\r\nA: b\r\nContent-Length: 3\r\n', 'abc'),
      { ...kept, body: 'abc', headers: ['A', 'b', 'Content-Length', '3'] },
    ],
    [
      'a list of equal ones is one',
      of('Content-Length: 3, 3\r\n', 'abc'),
      { ...kept, headers: ['Content-Length', '3'] },
    ],
    ['too few bytes', of('Content-Length: 4\r\n', 'abc'), { end: 'cut', body: 'abc' }],
    ['too many bytes', of('Content-Length: 3\r\n', 'abcdef'), { ...kept, body: 'abc', surplus: 3 }],
    ['a response behind it', of('Content-Length: 3\r\n', `abc${OK}`), { ...kept, body: 'abc', surplus: OK.length }],
    [
      'beside chunks, §6.3',
      of('Content-Length: 3\r\nTransfer-Encoding: chunked\r\n', '3\r\nabc\r\n0\r\n\r\n'),
      refused,
    ],
    ['neither length nor chunks', of('', 'abc'), untilEnd],
  ],
  'transfer codings, RFC 9112 §6.1': [
    ['chunked', chunked('3\r\nabc\r\n0\r\n\r\n'), { ...kept, body: 'abc' }],
    ['chunked in capitals', of('TRANSFER-ENCODING: Chunked\r\n', '0\r\n\r\n'), { ...kept, body: '' }],
    ['an unknown one', of('Transfer-Encoding: foo\r\n', 'abc'), untilEnd],
    ['identity', of('Transfer-Encoding: identity\r\n', 'abc'), untilEnd],
    ['xchunked', of('Transfer-Encoding: xchunked\r\n', 'abc'), untilEnd],
    ['chunked with a parameter', of('Transfer-Encoding: chunked;q=1\r\n', 'abc'), untilEnd],
    ['an empty one', of('Transfer-Encoding:\r\n', 'abc'), refused],
    ['an empty line beside another', of('Transfer-Encoding:\r\nTransfer-Encoding: gzip\r\n', 'abc'), refused],
    ['an empty member', of('Transfer-Encoding: chunked,\r\n', '0\r\n\r\n'), refused],
    ['two words', of('Transfer-Encoding: chunked chunked\r\n', '0\r\n\r\n'), refused],
    ['a quoted one', of('Transfer-Encoding: "gzip"\r\n', 'abc'), refused],
    ['chunked, not last', of('Transfer-Encoding: chunked, gzip\r\n', 'abc'), refused],
    ['chunked twice', of('Transfer-Encoding: chunked, chunked\r\n', '0\r\n\r\n'), refused],
    ['chunked in two lines', of('Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n', '0\r\n\r\n'), refused],
    ['chunks below a coding that is not read', of('Transfer-Encoding: gzip, chunked\r\n', '0\r\n\r\n'), refused],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', refused],
  ],
  'responses without a body, RFC 9112 §6.3': [
    ['204', 'HTTP/1.1 204 No\r\n\r\n', { ...kept, body: '' }],
    ['204 with a length', 'HTTP/1.1 204 No\r\nContent-Length: 3\r\n\r\nabc', { ...last, body: '', surplus: 3 }],
    ['204 with chunks', 'HTTP/1.1 204 No\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n', { ...last, surplus: 5 }],
    ['304 with a length', 'HTTP/1.1 304 Not\r\nContent-Length: 3\r\n\r\n', { ...kept, body: '' }],
    ['304 with chunks', 'HTTP/1.1 304 Not\r\nTransfer-Encoding: chunked\r\n\r\n', { ...last, body: '' }],
    ['HEAD with a length', of('Content-Length: 3\r\n'), { ...last, body: '' }, true],
    ['HEAD with a body', of('Content-Length: 3\r\n', 'abc'), { ...last, body: '', surplus: 3 }, true],
    ['HEAD with chunks', of('Transfer-Encoding: chunked\r\n'), { ...last, body: '' }, true],
    ['HEAD without a length', of(''), { ...last, body: '' }, true],
    ['HEAD with a malformed length', of('Content-Length: x\r\n'), refused, true],
  ],
  'interim responses, RFC 9110 §15.2': [
    ['a 100 is dropped', `HTTP/1.1 100 Continue\r\n\r\n${of('Content-Length: 0\r\n')}`, { ...kept, interims: [] }],
    ['a 103', `HTTP/1.1 103 E\r\nLink: </a>\r\n\r\n${of('Content-Length: 0\r\n')}`, { ...kept, interims: [103] }],
    [
      'framing in one means nothing',
      `HTTP/1.1 103 E\r\nContent-Length: 9\r\nConnection: close\r\n\r\n${of('Content-Length: 0\r\n')}`,
      { ...kept, interims: [103] },
    ],
    ['a 101 that nobody asked for', 'HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n', refused],
    ['32', `HTTP/1.1 100 C\r\n\r\n`.repeat(32) + of('Content-Length: 0\r\n'), kept],
    ['33', `HTTP/1.1 100 C\r\n\r\n`.repeat(33) + of('Content-Length: 0\r\n'), refused],
  ],
  'chunks, RFC 9112 §7.1': [
    ['several', chunked('1\r\na\r\n02\r\nbc\r\n0000\r\n\r\n'), { ...kept, body: 'abc' }],
    ['an extension', chunked('3;a;b=c;d="e \\" f"\r\nabc\r\n0;x\r\n\r\n'), { ...kept, body: 'abc' }],
    ['no size', chunked('\r\nabc\r\n0\r\n\r\n'), refused],
    ['a sign', chunked('+3\r\nabc\r\n0\r\n\r\n'), refused],
    ['0x', chunked('0x3\r\nabc\r\n0\r\n\r\n'), refused],
    ['a blank before the size', chunked(' 3\r\nabc\r\n0\r\n\r\n'), refused],
    ['a blank behind the size', chunked('3 \r\nabc\r\n0\r\n\r\n'), refused],
    ['14 digits', chunked(`${'0'.repeat(13)}3\r\nabc\r\n0\r\n\r\n`), refused],
    ['a bare LF behind the size', chunked('3\nabc\r\n0\r\n\r\n'), refused],
    ['a control byte in an extension', chunked('3;a=\x01\r\nabc\r\n0\r\n\r\n'), refused],
    ['a bare LF in an extension', chunked('3;a\nb\r\nabc\r\n0\r\n\r\n'), refused],
    ['an extension of 2 KiB', chunked(`3;${'a'.repeat(2048)}\r\nabc\r\n0\r\n\r\n`), refused],
    ['no line end behind the data', chunked('3\r\nabcd\r\n0\r\n\r\n'), { ...refused, body: 'abc' }],
    ['a bare LF behind the data', chunked('3\r\nabc\n0\r\n\r\n'), refused],
    ['the end inside the data', chunked('3\r\nab'), { end: 'cut', body: 'ab' }],
    ['the end before the last chunk', chunked('3\r\nabc\r\n'), { end: 'cut', body: 'abc' }],
    ['the end before the empty line', chunked('3\r\nabc\r\n0\r\n'), { end: 'cut' }],
    ['trailers are dropped, §7.1.2', chunked('0\r\nA: b\r\nContent-Length: 9\r\n\r\n'), { ...kept, body: '' }],
    ['a trailer without a colon', chunked('0\r\nA\r\n\r\n'), refused],
    ['trailers of 33 KiB', chunked(`0\r\n${`A: ${'b'.repeat(1000)}\r\n`.repeat(34)}\r\n`), refused],
    ['a response behind them', chunked(`0\r\n\r\n${OK}`), { ...kept, surplus: OK.length }],
  ],
  'connections, RFC 9112 §9.3': [
    ['close', of('Content-Length: 0\r\nConnection: close\r\n'), last],
    ['close in capitals and in a list', of('Content-Length: 0\r\nConnection: x, CLOSE\r\n'), last],
    ['close in a second line', of('Content-Length: 0\r\nConnection: x\r\nConnection: close\r\n'), last],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\n\r\n', last],
    ['HTTP/1.0 with keep-alive', 'HTTP/1.0 200 OK\r\nContent-Length: 0\r\nConnection: Keep-Alive\r\n\r\n', kept],
    ['no hint', of('Content-Length: 0\r\n'), { ...kept, idleMs: 4_000 }],
    ['a hint', of('Content-Length: 0\r\nKeep-Alive: timeout=15, max=9\r\n'), { ...kept, idleMs: 14_000 }],
    ['a large hint', of('Content-Length: 0\r\nKeep-Alive: max=9, timeout=3600\r\n'), { ...kept, idleMs: 60_000 }],
    ['a hint of a second', of('Content-Length: 0\r\nKeep-Alive: timeout=1\r\n'), last],
  ],
  'limits of a head': [
    ['33 KiB', of(`A: ${'b'.repeat(33 * 1024)}\r\n`), tooLarge],
    ['33 KiB of fields', of(`A: ${'b'.repeat(1000)}\r\n`.repeat(34)), tooLarge],
    ['31 KiB', of(`Content-Length: 0\r\nA: ${'b'.repeat(31 * 1024)}\r\n`), kept],
    ['201 fields', of('A: b\r\n'.repeat(201)), tooLarge],
    ['200 fields', of(`${'A: b\r\n'.repeat(199)}Content-Length: 0\r\n`), kept],
  ],
};

for (const [title, rows] of Object.entries(TABLES)) {
  describe(title, () => {
    for (const [what, text, expected, isHeadRequest] of rows) {
      test(`${what}: ${expected.end ?? ''}`, () => {
        const whole = read(text, isHeadRequest);
        assert.deepEqual(pick(whole, expected), expected);
        // The result does not depend on the size of the pieces.
        for (const pieceBytes of [1, 2, 7, 1000]) {
          const inPieces = read(text, isHeadRequest, pieceBytes);
          assert.deepEqual(pick(inPieces, expected), expected, `in pieces of ${pieceBytes}`);
        }
      });
    }
  });
}

function pick(read: Read, { ...wanted }: Partial<Read>): Partial<Read> {
  return Object.fromEntries(Object.entries(read).filter(([key]) => key in wanted));
}

test('a head in pieces of one byte costs what its bytes cost, not their square', () => {
  const head = of(`A: ${'b'.repeat(31_000)}\r\nContent-Length: 0\r\n`);
  const before = process.cpuUsage();
  for (let i = 0; i < 8; i++) assert.equal(read(head, false, 1).end, 'whole');
  const { user } = process.cpuUsage(before);
  assert.ok(user < 1_500_000, `${user} µs`); // about 200,000; 8,000,000 if each piece reread the line
});

test('a paused reader reads nothing, and continues where it was', () => {
  const bodies: string[] = [];
  const reader: ResponseReader = new ResponseReader({
    onInterim: () => undefined,
    onHead: () => undefined,
    onBody: (bytes) => {
      bodies.push(bytes.toString('latin1'));
      reader.isPaused = true;
    },
  });
  reader.expect(false);
  const pieces = [chunked('1\r\na\r\n2\r\nb'), 'c\r\n0\r\n\r\n'].map((text) => Buffer.from(text, 'latin1'));
  const [first = Buffer.alloc(0), second = Buffer.alloc(0)] = pieces;
  assert.deepEqual([reader.read(first, 0), bodies], [first.length, ['ab']]);
  assert.equal(reader.read(second, 0), 0);
  reader.isPaused = false;
  let at = reader.read(second, 0);
  reader.isPaused = false;
  at = reader.read(second, at);
  assert.deepEqual([at, bodies, reader.isOver], [second.length, ['ab', 'c'], true]);
});

test('all chunks of a piece are given together, also those before a fault', () => {
  const given: string[] = [];
  const reader = new ResponseReader({
    onInterim: () => undefined,
    onHead: () => undefined,
    onBody: (bytes) => void given.push(bytes.toString('latin1')),
  });
  reader.expect(false);
  reader.read(Buffer.from(chunked('1\r\na\r\n2;x=y\r\nbc\r\n3\r\nd'), 'latin1'), 0);
  reader.read(Buffer.from('ef\r\n1\r\ng\r\n1\r\nh\r\nno size', 'latin1'), 0);
  assert.deepEqual([given, reader.fault?.failure], [['abcd', 'efgh'], 'originMalformed']);
});
