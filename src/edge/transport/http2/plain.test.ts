import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseRequest, requestHeadBytes } from '../../request.ts';
import { KNOWN_FIELDS } from '../../shortcuts/plain-fields.ts';
import { type PlainHead, readPlainHead } from './plain.ts';
import { readHttp2Request } from './request.ts';
import { makeRequestField, type RequestField } from './request-field.ts';

const GET = [':method', 'GET', ':scheme', 'https', ':authority', 'www.example.com', ':path', '/a?b=1'];
const LIMIT = 32 * 1024;

const made = (fields: readonly string[]): RequestField[] =>
  fields.flatMap((name, i) => (i % 2 === 0 ? [makeRequestField(name, fields[i + 1] ?? '')] : []));

function readWhole(fields: readonly string[]) {
  const request = readHttp2Request({ fields: made(fields), reading: 'whole', isWhole: true }, LIMIT);
  assert.ok(request !== undefined);
  return request;
}

const instead = (name: string, value: string) => GET.map((text, i) => (GET[i - 1] === name ? value : text));

test("a browser's request is plain", () => {
  const fields = [...GET, 'user-agent', 'B/1', 'accept', '*/*', 'sec-fetch-site', 'none', 'referer', 'https://x.test/'];
  const more = [
    'accept-encoding',
    'gzip, br',
    'cookie',
    'a=1',
    'cookie',
    'b=2',
    'priority',
    'u=1, i',
    'te',
    'trailers',
  ];
  const head: PlainHead | undefined = readPlainHead(made([...fields, ...more]), LIMIT);
  assert.deepEqual(head, {
    authority: 'www.example.com',
    target: '/a?b=1',
    acceptEncoding: 'gzip, br',
    referer: 'https://x.test/',
    userAgent: 'B/1',
    ifNoneMatch: '',
    ifModifiedSince: '',
    headBytes: requestHeadBytes(readWhole([...fields, ...more])),
  });
});

describe('plain requests over HTTP/2', () => {
  const rows: readonly (readonly [fields: readonly string[], isPlain: boolean])[] = [
    [[...GET, 'host', 'www.example.com'], true],
    [[...GET, 'host', 'WWW.example.com'], false],
    [[...GET, 'host', 'other.example.com'], false],
    [[...GET, 'host', 'www.example.com', 'host', 'www.example.com'], false],
    [instead(':method', 'HEAD'), false],
    [instead(':scheme', 'http'), false],
    [instead(':authority', ''), false],
    [[...instead(':authority', ''), 'host', 'www.example.com'], false],
    [instead(':path', '*'), false],
    [instead(':path', ''), false],
    [instead(':path', '/a b'), false],
    [instead(':path', '/a#b'), false],
    [instead(':path', '/\xe4'), true],
    [[...GET, 'x', 'a'.repeat(LIMIT)], false],
    [[...GET, 'x', 'a', 'x', 'b'], true],
    [[...GET, 'authorization', 'a'], true],
    [[...GET, 'authorization', 'a', 'authorization', 'a'], false],
    [[...GET, 'user-agent', ''], false],
    [[...GET, 'accept-encoding', 'a', 'accept-encoding', 'b'], false],
    [[...GET, 'if-none-match', '"a"'], true],
    [[...GET, 'if-none-match', '"a"', 'if-none-match', '"b"'], false],
    [[...GET, 'if-modified-since', 'x'], true],
    [[...GET, 'if-modified-since', ''], false],
    [[...GET, 'content-length', '0'], false],
    [[...GET, 'range', 'bytes=0-1'], false],
    [[...GET, 'cdn-loop', 'x'], false],
    [[...GET, 'via', 'x'], true],
  ];
  for (const [fields, isPlain] of rows) {
    test(`plain, ${JSON.stringify(fields.slice(0, 12)).slice(0, 150)}: ${isPlain}`, () => {
      assert.equal(readPlainHead(made(fields), LIMIT) !== undefined, isPlain);
    });
  }
});

test('a plain request has its parts, and is refused for its target at most', () => {
  const names = [...KNOWN_FIELDS.map(({ name }) => name), 'cookie', 'accept', 'x-own'];
  const field = fc.tuple(fc.constantFrom(...names), fc.constantFrom('', 'a', 'b=1', 'www.example.com'));
  let plain = 0;
  fc.assert(
    fc.property(fc.array(field, { maxLength: 4 }), (more) => {
      const fields = [...GET, ...more.flat()];
      const head = readPlainHead(made(fields), LIMIT);
      if (head === undefined) return;
      plain += 1;
      const { expectation, ...asked } = readWhole(fields);
      const request = parseRequest(
        {
          ...asked,
          isTls: true,
          clientAddress: '192.0.2.1',
          hasUnknownVersion: false,
          hasUnknownExpectation: expectation === 'unknown',
        },
        'causeway',
      );
      assert.ok(request.kind === 'request' && expectation === 'none');
      assert.equal(request.method, 'GET');
      assert.equal(request.target, head.target);
      assert.equal(request.facts.hasBody, false);
      assert.equal(head.headBytes, requestHeadBytes(asked));
    }),
    { seed: 1, numRuns: 2_000 },
  );
  assert.ok(plain > 400, `${plain} are plain`);
});
