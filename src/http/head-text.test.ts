import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { formatHead } from './head-text.ts';

test('a head is status line, fields in their order, framing fields, and an empty line', () => {
  assert.equal(
    formatHead(200, 'OK', ['Content-Type', 'text/plain', 'X-A', '', 'x-a', 'caf\u00e9\t1'], 'Connection: close\r\n'),
    'HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nX-A: \r\nx-a: caf\u00e9\t1\r\nConnection: close\r\n\r\n',
  );
  assert.equal(formatHead(599, '', []), 'HTTP/1.1 599 \r\n\r\n');
});

test("the origin's framing fields are not repeated", () => {
  assert.equal(formatHead(200, 'OK', ['Transfer-Encoding', 'chunked', 'A', 'b']), 'HTTP/1.1 200 OK\r\nA: b\r\n\r\n');
});

describe('characters that would end a line, or are not bytes, are an error', () => {
  const rows: readonly (readonly [what: string, status: number, reason: string, headers: readonly string[]])[] = [
    ['a line end in a value', 200, 'OK', ['X-A', 'b\r\nSet-Cookie: c']],
    ['a bare CR', 200, 'OK', ['X-A', 'b\rc']],
    ['a bare LF', 200, 'OK', ['X-A', 'b\n']],
    ['a NUL', 200, 'OK', ['X-A', '\0']],
    ['DEL', 200, 'OK', ['X-A', '\x7f']],
    ['what becomes a line end as one byte', 200, 'OK', ['X-A', '\u010d\u010aX-B: c']],
    ['a line end in a name', 200, 'OK', ['X-A: b\r\nX-B', 'c']],
    ['a blank in a name', 200, 'OK', ['X A', 'c']],
    ['a name beyond ASCII', 200, 'OK', ['X-\u00e9', 'c']],
    ['an empty name', 200, 'OK', ['', 'c']],
    ['a line end in the reason', 200, 'OK\r\nX-A: b', []],
    ['a status of two digits', 99, 'OK', []],
    ['a status of four digits', 1000, 'OK', []],
    ['a status that is no number', Number.NaN, 'OK', []],
  ];
  for (const [what, status, reason, headers] of rows) {
    test(what, () => void assert.throws(() => formatHead(status, reason, headers)));
  }
});
