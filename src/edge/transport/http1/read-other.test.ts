import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readOther } from './read-other.ts';

test('a request for node:http is read to its end', () => {
  const rows: readonly (readonly [text: string, expected: readonly unknown[] | undefined])[] = [
    ['GET / HTTP/1.0\r\n\r\nrest', ['GET', '/', '1.0', [], 18, 18]],
    [
      'POST /a HTTP/1.1\r\nHost:  a \r\nContent-Length: 3\r\n\r\nabc',
      ['POST', '/a', '1.1', ['Host', 'a', 'Content-Length', '3'], 50, 53],
    ],
    ['GET /\xe4 HTTP/1.1\r\nX: \r\n\r\n', ['GET', '/\xe4', '1.1', ['X', ''], 24, 24]],
    [
      'PUT / HTTP/1.1\r\ntransfer-encoding: chunked\r\n\r\n',
      ['PUT', '/', '1.1', ['transfer-encoding', 'chunked'], 46, Number.POSITIVE_INFINITY],
    ],
    [
      'PUT / HTTP/1.1\r\nContent-Length: -1\r\n\r\n',
      ['PUT', '/', '1.1', ['Content-Length', '-1'], 38, Number.POSITIVE_INFINITY],
    ],
    ['', undefined],
    ['POST / HTTP/1.1\r\nHost: a\r\n', undefined],
    ['GET / HTTP/2.0\r\n\r\n', undefined],
    ['GET  / HTTP/1.1\r\n\r\n', undefined],
    ['nonsense\r\n\r\n', undefined],
    ['GET / HTTP/1.1\r\nHost\r\n\r\n', undefined],
    ['GET / HTTP/1.1\r\n folded: a\r\n\r\n', undefined],
    ['GET / HTTP/1.1\r\nA: \x00\r\n\r\n', undefined],
  ];
  for (const [text, expected] of rows) {
    const read = readOther(Buffer.from(text, 'latin1'));
    const seen = read && [read.method, read.target, read.httpVersion, read.headers, read.headBytes, read.wholeBytes];
    assert.deepEqual(seen, expected, text);
  }
});

test('a long field without an end costs no time', () => {
  const text = `GET / HTTP/1.1\r\nA:${' \t'.repeat(30_000)}\x00\r\n\r\n`;
  const before = process.cpuUsage();
  assert.equal(readOther(Buffer.from(text)), undefined);
  assert.ok(process.cpuUsage(before).user < 500_000);
});
