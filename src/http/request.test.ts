import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { checkRequest, MAX_TARGET_BYTES, type RequestLine, type ValidRequest } from './request.ts';

function line(changes: Partial<RequestLine> = {}): RequestLine {
  return { method: 'GET', target: '/', httpVersion: '1.1', isTls: false, headers: ['Host', 'example.com'], ...changes };
}

describe('a valid request', () => {
  const rows: [Partial<RequestLine>, Partial<ValidRequest>][] = [
    [{}, { host: 'example.com', authority: 'example.com', scheme: 'http', target: '/', uri: 'http://example.com/' }],
    [{ headers: ['host', 'EXAMPLE.com.:80'] }, { host: 'example.com', authority: 'example.com' }],
    [{ headers: ['Host', 'example.com:8080'] }, { host: 'example.com', authority: 'example.com:8080' }],
    [
      { headers: ['Host', 'example.com:443'], isTls: true },
      { authority: 'example.com', scheme: 'https' },
    ],
    [{ headers: ['Host', 'example.com:'] }, { authority: 'example.com' }],
    [{ headers: ['Host', '[::1]:8080'] }, { host: '[::1]', authority: '[::1]:8080' }],
    [
      { target: '/%61?Q=%61' },
      { target: '/%61?Q=%61', keyPath: '/a', query: '?Q=%61', uri: 'http://example.com/%61?Q=%61' },
    ],
    [{ target: 'HTTP://Example.com/a?b' }, { target: '/a?b', uri: 'http://example.com/a?b' }],
    [{ target: 'http://example.com' }, { target: '/', keyPath: '/' }],
    [{ target: 'http://example.com?b' }, { target: '/?b', query: '?b' }],
    [{ target: 'http://example.com:80/' }, { target: '/' }],
    [
      { method: 'OPTIONS', target: '*' },
      { target: '*', keyPath: '*', uri: 'http://example.com' },
    ],
    [{ method: 'M-SEARCH' }, { method: 'M-SEARCH' }],
    [{ target: '/\u00e9' }, { target: '/\u00e9', keyPath: '/%E9' }],
    [{ httpVersion: '1.0' }, { host: 'example.com' }],
    [
      {
        headers: [
          'Host',
          'a',
          'Accept',
          'x',
          'Accept',
          'y',
          'If-None-Match',
          '"a"',
          'If-None-Match',
          '"b"',
          'X-A',
          '',
          'X-A',
          '',
        ],
      },
      { host: 'a' },
    ],
    [{ method: 'POST', headers: ['Host', 'a', 'Content-Length', '5'] }, { host: 'a' }],
    [{ method: 'POST', headers: ['Host', 'a', 'Transfer-Encoding', 'Chunked'] }, { host: 'a' }],
  ];
  for (const [changes, expected] of rows) {
    test(JSON.stringify(changes), () => {
      const result = checkRequest(line(changes));
      assert.equal(result.kind, 'request', JSON.stringify(result));
      assert.deepEqual({ ...result, ...expected }, result);
    });
  }
});

describe('an invalid request', () => {
  const host = (...values: string[]) => ({ headers: values.flatMap((value) => ['Host', value]) });
  const framed = (...fields: string[]) => ({ method: 'POST', headers: ['Host', 'a', ...fields] });
  const rows: [Partial<RequestLine>, number, string][] = [
    [host(), 400, 'host'],
    [host('a', 'a'), 400, 'host'],
    [host(''), 400, 'host'],
    [host('a, b'), 400, 'host'],
    [host('user@a'), 400, 'host'],
    [host('a/b'), 400, 'host'],
    [host('a b'), 400, 'host'],
    [host('a:b'), 400, 'host'],
    [host('a:99999'), 400, 'host'],
    [host('.'), 400, 'host'],
    [host('\u00e9'), 400, 'host'],
    [host('b\u00c3\u00bccher.example'), 400, 'host'], // the bytes of UTF-8
    [{ ...host(), httpVersion: '1.0' }, 400, 'host'],
    [{ headers: ['Host', 'a', 'Referer', 'http://a/', 'referer', 'http://a/'] }, 400, 'repeatedField'],
    [{ headers: ['Host', 'a', 'USER-AGENT', 'x', 'Accept', '*', 'User-Agent', ''] }, 400, 'repeatedField'],
    [{ headers: ['Host', 'a', 'Range', 'bytes=0-1', 'Range', 'bytes=2-3'] }, 400, 'repeatedField'],
    [{ headers: ['Host', 'a', 'Authorization', 'x', 'Authorization', 'y'] }, 400, 'repeatedField'],
    [framed('Content-Length', '1', 'Content-Type', 'x', 'Content-Type', 'y'), 400, 'repeatedField'],
    [{ target: 'http://other.com/' }, 400, 'hostMismatch'],
    [{ target: 'http://example.com:81/' }, 400, 'hostMismatch'],
    [{ target: 'https://example.com/' }, 400, 'hostMismatch'],
    [{ target: 'http://user@example.com/' }, 400, 'target'],
    [{ target: 'ftp://example.com/' }, 400, 'target'],
    [{ target: '*' }, 400, 'target'],
    [{ target: 'a' }, 400, 'target'],
    [{ target: '' }, 400, 'target'],
    [{ target: '/a#b' }, 400, 'target'],
    [{ target: '/a b' }, 400, 'target'],
    [{ target: '/%' }, 400, 'target'],
    [{ target: '/%zz' }, 400, 'target'],
    [{ target: '/?%4' }, 400, 'target'],
    [{ target: '/\u0001' }, 400, 'target'],
    [{ target: '/\u4e2d' }, 400, 'target'],
    [{ target: `/${'a'.repeat(MAX_TARGET_BYTES)}` }, 414, 'targetTooLong'],
    [{ method: 'TRACE' }, 405, 'method'],
    [{ method: 'CONNECT', target: 'a:443' }, 405, 'method'],
    [framed('Content-Length', '5', 'Transfer-Encoding', 'chunked'), 400, 'framing'],
    [framed('Content-Length', '5', 'Content-Length', '5'), 400, 'framing'],
    [framed('Content-Length', '5, 5'), 400, 'framing'],
    [framed('Content-Length', '+5'), 400, 'framing'],
    [framed('Content-Length', '-5'), 400, 'framing'],
    [framed('Content-Length', ''), 400, 'framing'],
    [framed('Transfer-Encoding', 'chunked,'), 400, 'framing'],
    [framed('Transfer-Encoding', 'identity'), 400, 'framing'],
    [framed('Transfer-Encoding', 'chunked, identity'), 400, 'framing'],
    [framed('Transfer-Encoding', '\u000bchunked'), 400, 'framing'],
    [framed('Transfer-Encoding', 'gzip, chunked'), 501, 'transferCoding'],
    [framed('Transfer-Encoding', 'chunked', 'Transfer-Encoding', 'chunked'), 501, 'transferCoding'],
    [{ ...framed('Transfer-Encoding', 'chunked'), httpVersion: '1.0' }, 400, 'framing'],
  ];
  for (const [changes, status, problem] of rows) {
    test(`an invalid request, ${problem}: ${JSON.stringify(changes).slice(0, 100)}`, () => {
      assert.deepEqual(checkRequest(line(changes)), { kind: 'invalid', status, problem });
    });
  }
});

test('law: no target and no host makes the reader throw, and a valid one keeps its parts', () => {
  fc.assert(
    fc.property(fc.string(), fc.string(), (target, host) => {
      const result = checkRequest(line({ target: `/${target}`, headers: ['Host', host] }));
      if (result.kind === 'request') assert.equal(result.target, `/${target}`);
    }),
  );
});
