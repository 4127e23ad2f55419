/** Request lines as passed to the HTTP/1 parser, and their assignment to its requests. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { RequestLines } from './request-lines.ts';

const HOST = 'Host: a\r\n';

/** Returns the bytes passed on, as text, and the targets of the lines in order. */
function read(text: string, cuts: readonly number[] = []): { readonly given: string; readonly targets: string[] } {
  const lines = new RequestLines();
  const bytes = Buffer.from(text, 'latin1');
  let given = '';
  let from = 0;
  for (const cut of [...cuts.map((at) => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    given += lines.take(bytes.subarray(from, cut)).toString('latin1');
    from = cut;
  }
  assert.equal(bytes.toString('latin1'), text, 'the bytes themselves stay');
  const targets: string[] = [];
  for (let line = lines.next(); line !== undefined; line = lines.next()) {
    targets.push(line.target);
    assert.equal(line.parsedTarget, line.target.replace(/[\x80-\xff]/g, 'x'));
  }
  return { given, targets };
}

const GET = `GET /\xe4 HTTP/1.1\r\n${HOST}\r\n`;
const GIVEN = GET.replace('\xe4', 'x');

describe('request lines', () => {
  const rows: readonly (readonly [what: string, before: string])[] = [
    ['nothing', ''],
    ['an empty line', '\r\n'],
    ['a request without a body', `GET /a HTTP/1.1\r\n${HOST}\r\n`],
    ['a body of a length', `POST /a HTTP/1.1\r\n${HOST}Content-Length: 8\r\n\r\nGET /\xe4 \n`],
    ['no bytes of a body', `POST /a HTTP/1.1\r\n${HOST}content-length:0\r\n\r\n`],
    [
      'chunks',
      `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: Chunked\r\n\r\n8;a="b"\r\nGET /\xe4 \n\r\n0\r\nX: GET /\xe4\r\n\r\n`,
    ],
    ['bytes beyond ASCII in fields', `GET /a HTTP/1.1\r\n${HOST}X: \xe4 \xe4\r\n\r\n`],
  ];
  for (const [what, before] of rows) {
    test(`request lines after ${what} are read, however they arrive`, () => {
      const targets = before.includes('/a') ? ['/a', '/\xe4'] : ['/\xe4'];
      assert.deepEqual(read(before + GET), { given: before + GIVEN, targets });
      fc.assert(
        fc.property(fc.array(fc.nat(), { maxLength: 4 }), (cuts) => {
          assert.deepEqual(read(before + GET, cuts), { given: before + GIVEN, targets });
        }),
        { numRuns: 50 },
      );
      const each = Array.from({ length: before.length + GET.length }, (_, at) => at);
      assert.deepEqual(read(before + GET, each), { given: before + GIVEN, targets });
    });
  }

  const lost: readonly (readonly [what: string, before: string])[] = [
    ['two lengths', `POST /a HTTP/1.1\r\n${HOST}Content-Length: 0\r\nContent-Length: 0\r\n\r\n`],
    ['a length that is none', `POST /a HTTP/1.1\r\n${HOST}Content-Length: +0\r\n\r\n`],
    [
      'a length and chunks',
      `POST /a HTTP/1.1\r\n${HOST}Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    ],
    ['another coding', `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n`],
    ['a broken chunk', `POST /a HTTP/1.1\r\n${HOST}Transfer-Encoding: chunked\r\n\r\nz\r\n\r\n`],
    ['an upgrade', `GET /a HTTP/1.1\r\n${HOST}Upgrade: x\r\n\r\n`],
    ['a tunnel', `CONNECT /a HTTP/1.1\r\n${HOST}\r\n`],
  ];
  for (const [what, before] of lost) {
    test(`request lines after ${what} are left to the parser`, () => {
      assert.deepEqual(read(before + GET), { given: before + GET, targets: ['/a'] });
    });
  }

  test('bytes beyond ASCII that are not in a target stay in place', () => {
    for (const line of ['G\xe4T /a HTTP/1.1', 'GET /a HTTP/1.\xe4', '\xe4', 'GET /a b\xe4 HTTP/1.1'])
      assert.equal(read(`${line}\r\n`).given, `${line}\r\n`);
  });

  test('a long target is kept up to the maximum length of a target', () => {
    const { targets } = read(`GET /${'\xe4'.repeat(100_000)} HTTP/1.1\r\n`);
    assert.ok((targets[0]?.length ?? 0) < 10_000);
    const longest = `/${'\xe4'.repeat(8_191)}`;
    assert.deepEqual(read(`OPTIONS ${longest} HTTP/1.1\r\n`).targets, [longest]);
  });

  test('request lines name their protocol', () => {
    const lines = new RequestLines();
    lines.take(Buffer.from('GET / RTSP/1.0\r\n\r\n'));
    assert.equal(lines.next()?.version, 'RTSP/1.0');
  });
});
