/** Calls that control reads itself, and the same by node:http: the answers are the same. docs/decisions/0380 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CALL_FIELDS } from '#api/calls/call-fields.ts';
import { readCall } from '#api/http/bare/read-call.ts';
import { startTestApi } from '../support/api/api.ts';
import { ADD, callBytes, openAtNode, openRaw, SEND, sendAll } from '../support/api/raw-calls.ts';
import { newSqlite } from '../support/db/databases.ts';

const LIST = '/domain/listDomains';
const CLOSE = 'Connection: close';
const HEAD = `POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n${CLOSE}\r\n`;

/** What it is for our reader: its first call is read there, or all of it goes to node:http. */
type Row = readonly [what: string, bytes: string, reading: 'call' | 'incomplete' | 'other'];

/** Each is all that comes on its connection, or ends it. */
function rows(accessToken: string): Row[] {
  const last = (body: string, ...fields: string[]) => callBytes(ADD, body, [CLOSE, ...fields]);
  const list = (...fields: string[]) => callBytes(LIST, JSON.stringify({ access_token: accessToken }), fields);
  const chunked = 'Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n';
  const odd = (lines: string) => `${HEAD}${lines}`;
  const withLength = (value: string, body = '{}') => odd(`Content-Length:${value}\r\n\r\n${body}`);
  return [
    ['what works', list(CLOSE), 'call'],
    ['several, one behind the other', list() + last('[1]').replace(`${CLOSE}\r\n`, '') + list() + list(CLOSE), 'call'],
    ['one that is node:http’s behind another', `${list()}GET /healthz HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n\r\n`, 'call'],
    ['ours behind one that is not', `GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n${list(CLOSE)}`, 'other'],
    ['the SMS interface, no type', callBytes(SEND, '{}', [CLOSE]).replace(/Content-Type.*\r\n/, ''), 'call'],
    ['the SMS interface, broken JSON', callBytes(SEND, '{', [CLOSE]), 'call'],
    ['an unknown token', last('{"access_token":"x"}'), 'call'],
    ['broken JSON', last('{"a"'), 'call'],
    ['no object', last('null'), 'call'],
    ['a prototype', last('{"__proto__":{"access_token":"x"},"constructor":{"prototype":{}}}'), 'call'],
    ['a mark of the byte order', last('\ufeff{}'), 'call'],
    ['only blanks', last('  '), 'call'],
    ['bytes that are no UTF-8', withLength(' 9', '{"a":"\xff"}'), 'call'],
    ['another language', last('{}', 'Accept-Language: en'), 'call'],
    ['languages with bytes beyond ASCII', last('{}', 'Accept-Language: \xe9, en'), 'call'],
    ['an address that nobody believes', last('{}', 'X-Forwarded-For: 192.0.2.1, 192.0.2.2'), 'call'],
    ['names in other letters', last('{}').replace('Content-Type', 'cONTENT-tYPE').replace('Host', 'hOST'), 'call'],
    ['blanks around values', last('{}', 'Accept-Language:\t en \t'), 'call'],
    ['a host of nothing', last('{}').replace('Host: a', 'Host:'), 'call'],
    ['a version that routes could have', last('{}', 'Accept-Version: 1.x'), 'call'],
    ['a user of this machine', last('{}', 'X-Causeway-User: alice'), 'call'],
    ['a name for the request', last('{}', 'X-Request-Id: mine', 'Request-Id: mine'), 'call'],
    ['another method in a field', last('{}', 'X-HTTP-Method-Override: DELETE'), 'call'],
    ['a cookie', last('{}', 'Cookie: a=b'), 'other'],
    ['a cookie, twice', last('{}', 'cookie: a=b', 'COOKIE: c=d'), 'other'],
    ['a cookie without a value', last('{}', 'Cookie:'), 'other'],
    ['a browser', last('{}', 'User-Agent: a', 'Origin: http://a', 'Sec-Fetch-Site: same-origin'), 'call'],
    ['TE', last('{}', 'TE: trailers', 'Accept-Encoding: gzip'), 'call'],
    ['a semicolon behind the type', last('{}').replace('/json', '/json;'), 'call'],
    ['a type with its characters', last('{}').replace('/json', '/json ; charset="utf-8"'), 'call'],
    ['fifty fields and more', last('{}', ...Array.from({ length: 60 }, (_, n) => `X-${n}: a`)), 'other'],
    ['a head of 10 KiB', last('{}', `X: ${'x'.repeat(10_000)}`), 'other'],
    ['a head of 20 KiB', last('{}', `X: ${'x'.repeat(20_000)}`), 'other'],
    ['another type', last('{}').replace('/json', '/x-www-form-urlencoded'), 'other'],
    ['an empty type', last('{}').replace(' application/json', ''), 'other'],
    ['two types', last('{}', 'Content-Type: application/json'), 'other'],
    ['two types, the second not ours', last('{}', 'Content-Type: text/plain'), 'other'],
    ['no type', last('{}').replace(/Content-Type.*\r\n/, ''), 'other'],
    ['compressed', last('{}', 'Content-Encoding: gzip'), 'other'],
    ['not compressed', last('{}', 'Content-Encoding: identity'), 'other'],
    ['an unknown path', callBytes('/nothing', '{}', [CLOSE]), 'other'],
    ['a query', callBytes(`${ADD}?a=b`, '{}', [CLOSE]), 'other'],
    ['a fragment', callBytes(`${ADD}#a`, '{}', [CLOSE]), 'other'],
    ['an encoded path', callBytes('/domain/%61ddDomain', '{}', [CLOSE]), 'other'],
    ['absolute form', callBytes(`http://a${ADD}`, '{}', [CLOSE]), 'call'],
    ['absolute form for another host than Host', callBytes(`HTTPS://b.example:8700${ADD}`, '{}', [CLOSE]), 'other'],
    ['absolute form in other letters', callBytes(`HTTP://A:80${ADD}`, '{}', [CLOSE]), 'call'],
    ['another protocol', last('{}').replace('HTTP/1.1', 'RTSP/1.0'), 'other'],
    ['the options of the server', `OPTIONS * HTTP/1.1\r\nHost: a\r\n${CLOSE}\r\n\r\n`, 'other'],
    [
      'absolute form for an IPv6 address',
      callBytes(`http://[::1]:8700${SEND}`, '{}', [CLOSE]).replace('Host: a', 'Host: [::1]:8700'),
      'call',
    ],
    ['absolute form with a query', callBytes(`http://a${ADD}?a=b`, '{}', [CLOSE]), 'other'],
    ['absolute form with an encoded path', callBytes('http://a/domain/%61ddDomain', '{}', [CLOSE]), 'other'],
    ['absolute form without a path', callBytes('http://a', '{}', [CLOSE]), 'other'],
    ['absolute form without a host', callBytes(`http://${ADD}`, '{}', [CLOSE]), 'other'],
    ['absolute form with a user', callBytes(`http://u:p@a${ADD}`, '{}', [CLOSE]), 'other'],
    ['absolute form with a port beyond 65535', callBytes(`http://a:65536${ADD}`, '{}', [CLOSE]), 'other'],
    ['absolute form without Host', callBytes(`http://a${ADD}`, '{}', [CLOSE]).replace('Host: a\r\n', ''), 'other'],
    ['absolute form with two Hosts', callBytes(`http://a${ADD}`, '{}', [CLOSE, 'Host: a']), 'other'],
    ['another scheme', callBytes(`ftp://a${ADD}`, '{}', [CLOSE]), 'other'],
    ['a path with dots', callBytes(`/domain/../domain/addDomain`, '{}', [CLOSE]), 'other'],
    ['another method', last('{}').replace('POST', 'PUT'), 'other'],
    ['a method in small letters', last('{}').replace('POST', 'post'), 'other'],
    ['HTTP/1.0', last('{}').replace('1.1', '1.0'), 'other'],
    ['HTTP/1.2', last('{}').replace('1.1', '1.2'), 'other'],
    ['two blanks in the request line', last('{}').replace(' HTTP', '  HTTP'), 'other'],
    ['an empty line before it', `\r\n${last('{}')}`, 'other'],
    ['no host', last('{}').replace('Host: a\r\n', ''), 'other'],
    ['two hosts', last('{}', 'Host: a'), 'other'],
    ['two lengths', withLength(' 2\r\nContent-Length: 2'), 'other'],
    ['two lengths that differ', withLength(' 2\r\nContent-Length: 3'), 'other'],
    ['a length with a sign', withLength(' +2'), 'other'],
    ['a length with zeros', withLength(' 02'), 'other'],
    ['a length in a list', withLength(' 2, 2'), 'other'],
    ['a length in hex', withLength(' 0x2'), 'other'],
    ['a length with a vertical tab', withLength(' \v2'), 'other'],
    ['a length without a number', withLength(''), 'other'],
    ['a length beyond 64 bits', withLength(' 18446744073709551618'), 'other'],
    ['no length', odd('\r\n'), 'other'],
    ['no body', withLength(' 0', ''), 'other'],
    ['1 MiB and a byte', last(' '.repeat(2 ** 20 + 1)), 'other'],
    ['1 MiB', last(`{}${' '.repeat(2 ** 20 - 2)}`), 'incomplete'],
    ['chunks', odd(chunked), 'other'],
    ['chunks and a length', odd(`Content-Length: 2\r\n${chunked}`), 'other'],
    ['chunks, written otherwise', odd(chunked.replace('chunked', 'Chunked')), 'other'],
    ['chunks by a name with a blank', odd(`Content-Length: 2\r\n${chunked.replace(':', ' :')}`), 'other'],
    ['chunks behind a bare CR', odd(`X: a\rTransfer-Encoding: chunked\r\nContent-Length: 2\r\n\r\n{}`), 'other'],
    ['chunks behind a bare LF', odd(`X: a\nTransfer-Encoding: chunked\nContent-Length: 2\r\n\r\n{}`), 'other'],
    ['a folded line', odd('X: a\r\n b\r\nContent-Length: 2\r\n\r\n{}'), 'other'],
    ['a folded length', withLength('\r\n 2'), 'other'],
    ['a name with a blank', odd('Content-Length : 2\r\n\r\n{}'), 'other'],
    ['a name with a byte beyond ASCII', last('{}', '\xe9: a'), 'other'],
    ['no name', last('{}', ': a'), 'other'],
    ['a line without a colon', last('{}', 'abc'), 'other'],
    ['a zero byte in a value', last('{}', 'X: a\0b'), 'other'],
    ['a byte of control in a value', last('{}', 'X: a\x7fb'), 'other'],
    ['lines that end in LF', last('{}').replaceAll('\r\n', '\n'), 'incomplete'],
    ['Expect', odd('Expect: 100-continue\r\nContent-Length: 2\r\n\r\n{}'), 'other'],
    ['another Expect', last('{}', 'Expect: tea'), 'other'],
    ['Upgrade', last('{}', 'Upgrade: h2c'), 'other'],
    [
      'as a client that offers HTTP/2',
      callBytes(ADD, '{', ['Connection: Upgrade, HTTP2-Settings, close', 'Upgrade: h2c']),
      'other',
    ],
    ['Connection twice', last('{}', 'Connection: keep-alive'), 'other'],
    ['Connection with two words', callBytes(ADD, '{}', ['Connection: close, TE']), 'other'],
    ['Proxy-Connection', callBytes(ADD, '{}', ['Proxy-Connection: close']), 'other'],
    ['a key of a repetition', last('{}', 'Idempotency-Key: k'), 'call'],
    ['two keys of a repetition', last('{}', 'Idempotency-Key: k', 'Idempotency-Key: l'), 'other'],
    ['a language twice', last('{}', 'Accept-Language: fr', 'Accept-Language: en'), 'other'],
    ['TLS', '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03', 'other'],
    ['HTTP/2', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 'other'],
  ];
}

/** Status lines, fields in the order of their names, and bodies; of what differs each time the name. */
function comparable(bytes: string): string[] {
  return bytes.split(/(?=HTTP\/1\.1 \d)/).map((answer) => {
    const [head = '', body = ''] = answer.split('\r\n\r\n', 2);
    const [status = '', ...fields] = head.split('\r\n');
    const named = fields.map((field) => field.replace(/^(date|x-request-id): .*/i, '$1').toLowerCase());
    return [status, ...named.sort(), body].join('\n');
  });
}

/** A warning about a proxy comes only once. */
function isOfRequest(line: string): boolean {
  return JSON.parse(line).msg === 'request';
}

/** A line of the log without what differs each time. */
function logged(line: string): unknown {
  const { time: _time, requestId: _requestId, durationMs: _durationMs, ...rest } = JSON.parse(line);
  return rest;
}

describe('the call reader and node:http', () => {
  test('the table names every field that may be read of a call', () => {
    const text = rows('token')
      .map(([, bytes]) => bytes.toLowerCase())
      .join('\r\n');
    assert.deepEqual(
      CALL_FIELDS.filter((name) => !text.includes(`\r\n${name}:`)),
      [],
    );
  });

  test('a call is answered alike and logged alike by both readers', async (t) => {
    const api = await startTestApi(t, newSqlite, { locale: 'zh-CN' });
    const { accessToken } = await api.join('customer', ['cdn', 'sms']);
    const linesOf = async (socket: Parameters<typeof sendAll>[0], bytes: Buffer) => {
      const from = api.logLines.length;
      api.passedMs += 60_000; // what is left of the token's rate is the same for both
      const answers = comparable(await sendAll(socket, [bytes]));
      return { answers, lines: api.logLines.slice(from).filter(isOfRequest).map(logged) };
    };
    for (const [what, text, reading] of rows(accessToken)) {
      const bytes = Buffer.from(text, /[^\0-\xff]/.test(text) ? 'utf8' : 'latin1');
      const call = readCall(bytes.subarray(0, 64 * 1024));
      assert.equal(typeof call === 'object' ? 'call' : call, reading, what);
      const node = await linesOf(await openAtNode(api.url), bytes);
      assert.deepEqual(await linesOf(openRaw(api.url), bytes), node, what);
      assert.match(node.answers[0] ?? '', /^HTTP\/1\.1 [1245]\d\d /, what);
    }
  });

  test('a call that is cut, or whose client ends its side, is answered alike by both readers', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const bytes = Buffer.from(callBytes(ADD, '{"a":"é"}') + callBytes(LIST, '{}', [CLOSE]));
    const whole = comparable(await sendAll(await openAtNode(api.url), [bytes]));
    assert.equal(whole.length, 2);
    for (let cut = 1; cut < bytes.length; cut++) {
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
      assert.deepEqual(comparable(await sendAll(openRaw(api.url), pieces)), whole, `cut at ${cut}`);
    }
    for (let end = 1; end < callBytes(ADD, '{}').length; end += 7) {
      const pieces = [bytes.subarray(0, end)];
      const node = comparable(await sendAll(await openAtNode(api.url), pieces, 'end'));
      assert.deepEqual(comparable(await sendAll(openRaw(api.url), pieces, 'end')), node, `ended at ${end}`);
    }
  });

  test('garbage after a call does not suppress its answer', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const answers = comparable(
      await sendAll(openRaw(api.url), [Buffer.from(`${callBytes(ADD, '{}')}nonsense\r\n\r\n`)]),
    );
    assert.deepEqual(
      answers.map((answer) => answer.slice(0, 12)),
      ['HTTP/1.1 200', 'HTTP/1.1 400'],
    );
  });

  test('a call behind a proxy belongs to the client that the proxy names', async (t) => {
    const api = await startTestApi(t, newSqlite, { trustedProxies: ['127.0.0.0/8'] });
    for (const open of [openRaw, openAtNode])
      for (const forwarded of [
        ['X-Forwarded-For: 192.0.2.1, 127.0.0.9'],
        ['X-Forwarded-For: 192.0.2.1', 'X-Forwarded-For: 127.0.0.9'],
        [],
      ])
        await sendAll(await open(api.url), [Buffer.from(callBytes(ADD, '{}', [CLOSE, ...forwarded]))]);
    const addresses = api.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    const each = ['192.0.2.1', '192.0.2.1', '127.0.0.1'];
    assert.deepEqual(
      addresses.map(({ address }) => address),
      [...each, ...each],
    );
  });
});
