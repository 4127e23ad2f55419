import assert from 'node:assert/strict';
import { test } from 'node:test';
import { InterimFilter } from './interim-filter.ts';

const FINAL = 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok';
const CONTINUE = 'HTTP/1.1 100 Continue\r\n\r\n';
const HINTS = 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n';

type Row = readonly [what: string, bytes: string, passed: string];
const rows: readonly Row[] = [
  ['none', FINAL, FINAL],
  ['a 100', CONTINUE + FINAL, FINAL],
  ['a 100 with fields and another reason', `HTTP/1.1 100 \r\nA: b\r\nC: d\r\n\r\n${FINAL}`, FINAL],
  ['a 100 without a reason, in HTTP/1.0', `HTTP/1.0 100\r\n\r\n${FINAL}`, FINAL],
  ['a 100 with bare line feeds', `HTTP/1.1 100 Continue\n\n${FINAL}`, FINAL],
  ['several, in any order', CONTINUE + HINTS + CONTINUE + CONTINUE + FINAL, HINTS + FINAL],
  [
    'one that says close',
    `HTTP/1.1 103 E\r\nConnection: close\r\nX: y\r\nconnection: x-a, Close ,x-b\r\n\r\n${FINAL}`,
    `HTTP/1.1 103 E\r\nConnection: \r\nX: y\r\nconnection: x-a, x-b\r\n\r\n${FINAL}`,
  ],
  ['one of HTTP/1.0', `HTTP/1.0 102 Processing\r\n\r\n${FINAL}`, `HTTP/1.1 102 Processing\r\n\r\n${FINAL}`],
  ['a 101', `HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n${CONTINUE}`, `HTTP/1.1 101 S\r\nUpgrade: x\r\n\r\n${CONTINUE}`],
  ['a body that looks like one', `${FINAL}${CONTINUE}`, `${FINAL}${CONTINUE}`],
  ['what is no HTTP', 'HTTX/1.1 100 Continue\r\n\r\n', 'HTTX/1.1 100 Continue\r\n\r\n'],
  ['too many', CONTINUE.repeat(40) + FINAL, CONTINUE.repeat(8) + FINAL],
  ['one that is too long', `HTTP/1.1 100 ${'x'.repeat(40_000)}`, `HTTP/1.1 100 ${'x'.repeat(40_000)}`],
];

for (const [what, bytes, passed] of rows) {
  for (const size of [1, 5, 100_000]) {
    test(`interim responses, ${what}, in pieces of ${size}`, () => {
      const filter = new InterimFilter();
      filter.expect();
      let got = '';
      for (let at = 0; at < bytes.length; at += size) {
        got += filter.pass(Buffer.from(bytes.slice(at, at + size), 'latin1')).toString('latin1');
      }
      assert.equal(got, passed);
    });
  }
}

test('unexpected bytes are passed on as they are', () => {
  const filter = new InterimFilter();
  assert.equal(String(filter.pass(Buffer.from(CONTINUE))), CONTINUE);
  filter.expect();
  assert.equal(String(filter.pass(Buffer.from(FINAL))), FINAL);
  assert.equal(String(filter.pass(Buffer.from(CONTINUE))), CONTINUE);
  filter.expect();
  assert.equal(String(filter.pass(Buffer.from(CONTINUE + FINAL))), FINAL);
});
