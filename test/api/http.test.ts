/** What control does with HTTP itself: paths, methods, bodies, broken requests, closing. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request as httpsRequest } from 'node:https';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import { readAnswer, startTestApi, type TestApi } from '../support/api/api.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';

const ADD = '/domain/addDomain';
const JSON_TYPE = { 'content-type': 'application/json' };
const UUID = /^[0-9a-f-]{36}$/;

/** Sends bytes as they are and gives everything that comes back. */
async function sendRaw(api: TestApi, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
  socket.write(bytes);
  return await text(socket);
}

/** What operations before sign-in answer to a call without fields; others ask for some. */
const WITHOUT_FIELDS: ReadonlyMap<string, string> = new Map([
  ['session.passkeyChallenge', 'none'],
  ['session.methods', 'none'],
  ['session.beginProvider', 'providerAbsent'],
]);

describe('the listener of control', () => {
  test('every answer of control has the envelope of its path, a request id and no-store', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const send = (path: string, init: RequestInit) => fetch(api.url + path, init);
    const post = (
      body: NonNullable<RequestInit['body']>,
      headers: Record<string, string> = JSON_TYPE,
    ): RequestInit => ({
      method: 'POST',
      body,
      headers,
    });
    const rows: readonly [string, string, RequestInit, number, string, Record<string, string>?][] = [
      ['unknown path', '/nothing', post('{}'), 404, 'pathUnknown'],
      ['unknown path, not JSON', '/nothing', post('x', { 'content-type': 'text/plain' }), 404, 'pathUnknown'],
      ['POST to the root', '/', post('{}'), 405, 'methodNotAllowed', { allow: 'GET, HEAD' }],
      ['a path in other letters', '/domain/adddomain', post('{}'), 404, 'pathUnknown'],
      ['a slash at the end', `${ADD}/`, post('{}'), 404, 'pathUnknown'],
      ['an encoded path', '/domain/%61ddDomain', post('{}'), 404, 'pathUnknown'],
      ['an encoded path of health', '/%72eadyz', { method: 'GET' }, 404, 'pathUnknown'],
      ['a path that cannot be decoded', '/%zz', post('{}'), 404, 'pathUnknown'],
      ['GET', ADD, { method: 'GET' }, 405, 'methodNotAllowed', { allow: 'POST' }],
      ['PUT', ADD, { ...post('{}'), method: 'PUT' }, 405, 'methodNotAllowed', { allow: 'POST' }],
      ['OPTIONS', ADD, { method: 'OPTIONS' }, 405, 'methodNotAllowed', { allow: 'POST' }],
      ['PROPFIND', ADD, { method: 'PROPFIND' }, 405, 'methodNotAllowed', { allow: 'POST' }],
      ['POST to health', '/healthz', post('{}'), 405, 'methodNotAllowed', { allow: 'GET, HEAD' }],
      ['broken JSON', ADD, post('{"a":'), 400, 'bodyNotJson'],
      ['an empty body', ADD, post(''), 400, 'bodyNotJson'],
      ['a JSON array', ADD, post('[1]'), 400, 'bodyNotJson'],
      ['a JSON text', ADD, post('"x"'), 400, 'bodyNotJson'],
      ['JSON null', ADD, post('null'), 400, 'bodyNotJson'],
      ['bytes that are no UTF-8', ADD, post(Buffer.from('{"a":"\xff"}', 'latin1')), 400, 'bodyNotJson'],
      ['nesting without end', ADD, post('['.repeat(500_000)), 400, 'bodyNotJson'],
      ['deep nesting', ADD, post(`{"a":${'['.repeat(400_000)}${']'.repeat(400_000)}}`), 200, 'fieldMissing'],
      ['1 MiB', ADD, post(`{"a":"${'x'.repeat(2 ** 20 - 8)}"}`), 200, 'fieldMissing'],
      ['1 MiB and a byte', ADD, post(`{"a":"${'x'.repeat(2 ** 20 - 7)}"}`), 413, 'bodyTooLarge'],
      ['no content type', ADD, post(new Uint8Array([123, 125]), {}), 415, 'contentTypeWrong'],
      ['a form', ADD, post('a=1', { 'content-type': 'application/x-www-form-urlencoded' }), 415, 'contentTypeWrong'],
      ['GBK', ADD, post('{}', { 'content-type': 'application/json; charset=gbk' }), 415, 'contentTypeWrong'],
      ['UTF-8', ADD, post('{}', { 'content-type': 'Application/JSON;charset="UTF-8"' }), 200, 'fieldMissing'],
      ['compressed', ADD, post('{}', { ...JSON_TYPE, 'content-encoding': 'gzip' }), 415, 'contentTypeWrong'],
      ['a query', `${ADD}?x=1`, post('{}'), 200, 'fieldMissing'],
    ];
    for (const [what, path, init, http, code, headers = {}] of rows) {
      const answer = await readAnswer(await send(path, init));
      const where = `${what}: ${JSON.stringify(answer.body)}`;
      assert.deepEqual([answer.http, answer.errorCode], [http, code], where);
      assert.deepEqual(Object.keys(answer.body), ['status', 'info', 'data'], where);
      assert.deepEqual([answer.body['status'], answer.body['data']], [0, {}], where);
      assert.match(answer.headers.get('x-request-id') ?? '', UUID, where);
      assert.equal(answer.headers.get('cache-control'), 'no-store', where);
      assert.equal(answer.headers.get('content-type'), 'application/json; charset=utf-8', where);
      assert.equal(answer.headers.get('x-content-type-options'), 'nosniff', where);
      for (const [name, value] of Object.entries(headers)) assert.equal(answer.headers.get(name), value, where);
    }
    const head = await send(ADD, { method: 'HEAD' });
    assert.deepEqual([head.status, head.headers.get('allow')], [405, 'POST']);
  });

  test('a target in absolute form is answered like its origin form', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const type = 'Content-Type: application/json\r\nContent-Length: 2\r\n';
    const rows: readonly (readonly [line: string, fields: string, expected: RegExp])[] = [
      [`POST http://a${ADD} HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 200 .*fieldMissing/s],
      [`POST http://a${ADD}?b HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 200 .*fieldMissing/s],
      [`POST https://b.example:443${ADD} HTTP/1.1`, `Host: B.example\r\n${type}`, /^HTTP\/1\.1 200 .*fieldMissing/s],
      [`POST http://a${ADD} HTTP/1.0`, type, /^HTTP\/1\.1 200 .*fieldMissing/s],
      ['POST http://a/api/sms/ordinary HTTP/1.1', `Host: a\r\n${type}`, /^HTTP\/1\.1 200 .*"code":/s],
      [`GET http://a${ADD} HTTP/1.1`, 'Host: a\r\n', /^HTTP\/1\.1 405 .*allow: POST/is],
      ['GET http://a/healthz HTTP/1.1', 'Host: a\r\n', /^HTTP\/1\.1 200 .*"status":1/s],
      ['GET http://a HTTP/1.1', 'Host: a\r\n', /^HTTP\/1\.1 200 .*<!doctype html>/s],
      ['GET http://a/logs/1 HTTP/1.1', 'Host: a\r\n', /^HTTP\/1\.1 404 .*pathUnknown/s],
      ['GET http://a/nothing HTTP/1.1', 'Host: a\r\n', /^HTTP\/1\.1 404 .*pathUnknown/s],
      // RFC 9112 §3.2: Host is still required, once. RFC 9110 §4.2.1, §4.2.4: the URI has a host and no user.
      [`POST http://a${ADD} HTTP/1.1`, type, /^HTTP\/1\.1 400 .*requestMalformed/s],
      [`POST http://a${ADD} HTTP/1.1`, `Host: a\r\nHost: a\r\n${type}`, /^HTTP\/1\.1 400 .*requestMalformed/s],
      // docs/decisions/0466: two hosts are named.
      [`POST https://b.example:1${ADD} HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 400 .*requestMalformed/s],
      [`POST http://a:1${ADD} HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 400 .*requestMalformed/s],
      ['GET http://b/healthz HTTP/1.1', 'Host: a\r\n', /^HTTP\/1\.1 400 .*requestMalformed/s],
      ['GET http://b/healthz HTTP/1.1', 'Host:\r\n', /^HTTP\/1\.1 400 .*requestMalformed/s],
      [`POST http://${ADD} HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 400 .*requestMalformed/s],
      [`POST http://u@a${ADD} HTTP/1.1`, `Host: a\r\n${type}`, /^HTTP\/1\.1 400 .*requestMalformed/s],
    ];
    for (const [line, fields, expected] of rows) {
      const body = fields.includes('Content-Length') ? '{}' : '';
      assert.match(await sendRaw(api, `${line}\r\n${fields}Connection: close\r\n\r\n${body}`), expected, line);
    }
  });

  test('paths of the SMS interface have their own envelopes', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const send = await api.post('/api/sms/nothing', {}, { 'accept-language': 'en' });
    assert.deepEqual(send.body, { code: 2001, sendid: '', msg: 'unknown operation' });
    const app = await api.post('/api/app/nothing', {});
    assert.deepEqual(app.body, { status: 2001, info: '接口不存在', data: {} });
  });

  test('bytes that are not HTTP are answered, and the connection ends', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const rows: readonly [string, RegExp][] = [
      ['nonsense\r\n\r\n', /^HTTP\/1\.1 400 .*x-error-code: requestMalformed/s],
      [`POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Length: x\r\n\r\n`, /^HTTP\/1\.1 400 .*"status":0/s],
      [
        `POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
        /^HTTP\/1\.1 400 /,
      ],
      [
        `GET / HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`,
        /^HTTP\/1\.1 431 .*x-error-code: headersTooLarge.*x-request-id: [0-9a-f-]{36}/s,
      ],
    ];
    for (const [bytes, expected] of rows) assert.match(await sendRaw(api, bytes), expected);
    const head = `POST ${ADD} HTTP/1.1\r\nContent-Type: application/json\r\nConnection: close\r\n`;
    assert.match(
      await sendRaw(api, `${head}Content-Length: 2\r\n\r\n{}`),
      /^HTTP\/1\.1 400 .*requestMalformed/s,
      'no Host',
    );
    for (const hosts of ['Host: a\r\nHost: b', 'Host: a\r\nhost: a'])
      assert.match(
        await sendRaw(api, `${head}${hosts}\r\nContent-Length: 2\r\n\r\n{}`),
        /^HTTP\/1\.1 400 .*requestMalformed/s,
        hosts,
      );
    for (const version of ['HTTP/2.0', 'HTTP/0.9'])
      assert.match(
        await sendRaw(api, `${head.replace('HTTP/1.1', version)}Host: a\r\nContent-Length: 2\r\n\r\n{}`),
        /^HTTP\/1\.1 400 .*requestMalformed/s,
        version,
      );
    assert.match(
      await sendRaw(api, 'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com:443\r\n\r\n'),
      /^HTTP\/1\.1 405 .*x-error-code: methodNotAllowed\r\nallow: POST\r\n.*"status":0/s,
    );
    assert.match(
      await sendRaw(api, `${head}Host: a\r\nExpect: tea\r\nContent-Length: 2\r\n\r\n{}`),
      /^HTTP\/1\.1 200 .*"status":0/s,
    );
    const chunk = `10000\r\n${'x'.repeat(2 ** 16)}\r\n`;
    const flood = `${head}Host: a\r\nTransfer-Encoding: chunked\r\n\r\n${chunk.repeat(17)}0\r\n\r\n`;
    assert.match(await sendRaw(api, flood), /^HTTP\/1\.1 413 .*bodyTooLarge/s, 'a body of unknown length');
    const cut = connect(Number(new URL(api.url).port), '127.0.0.1');
    cut.write(`POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    cut.resetAndDestroy();
    assert.equal((await fetch(`${api.url}/healthz`)).status, 200, 'it goes on');
  });

  test('a client whose body is not read to its end still gets the answer', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const body = Buffer.alloc(5 * 2 ** 20, 0x20);
    const rows: readonly [string, string, string, number][] = [
      [ADD, 'application/json', 'keep-alive', 413],
      [ADD, 'application/json', 'close', 413],
      [ADD, 'text/plain', 'close', 415],
      ['/nothing', 'application/json', 'close', 404],
      ['/healthz', 'application/json', 'close', 405],
    ];
    for (const [path, type, connection, http] of rows) {
      for (const length of ['Content-Length: 5242880', 'Transfer-Encoding: chunked']) {
        const socket = connect(Number(new URL(api.url).port), '127.0.0.1');
        const where = `${path} ${type} ${connection} ${length}`;
        socket.on('error', (error) => assert.fail(`${where}: ${error.message}`));
        socket.write(
          `POST ${path} HTTP/1.1\r\nHost: a\r\nContent-Type: ${type}\r\nConnection: ${connection}\r\n${length}\r\n\r\n`,
        );
        const chunked = Buffer.concat([Buffer.from('500000\r\n'), body, Buffer.from('\r\n0\r\n\r\n')]);
        // As many clients do: everything is sent before anything is read.
        await new Promise<void>((resolve) => socket.write(length.startsWith('C') ? body : chunked, () => resolve()));
        const [first] = await once(socket, 'data');
        assert.match(String(first), new RegExp(`^HTTP/1\\.1 ${http} `), where);
        socket.destroy();
      }
    }
    for (let times = 0; times < 3; times += 1) {
      const answer = await fetch(api.url + ADD, { method: 'POST', headers: JSON_TYPE, body });
      assert.deepEqual([answer.status, (await readAnswer(answer)).errorCode], [413, 'bodyTooLarge']);
    }
    const flood = await fetch(api.url + ADD, {
      method: 'POST',
      headers: JSON_TYPE,
      body: Buffer.alloc(40 * 2 ** 20),
    }).then(
      ({ status }) => status,
      () => 'reset',
    );
    assert.ok(flood === 413 || flood === 'reset', 'no more is read than 8 MiB');
    const slow = connect(Number(new URL(api.url).port), '127.0.0.1');
    slow.write(`POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Type: text/plain\r\nContent-Length: 100\r\n\r\n{`);
    assert.match(await text(slow), /^HTTP\/1\.1 415 .*connection: close/is, 'what does not come is not waited for');
  });

  test('a browser is shown what this address is, in both languages', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const page = await fetch(api.url);
    assert.deepEqual([page.status, page.headers.get('content-type')], [200, 'text/html; charset=utf-8']);
    assert.equal(page.headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'");
    const html = await page.text();
    assert.match(html, /<div lang="zh-CN">\n<p>这里是管理与短信接口/);
    assert.match(html, /<div lang="en">\n<p>This is the management and SMS interface/);
    const head = await fetch(api.url, { method: 'HEAD' });
    assert.deepEqual([head.status, await head.text()], [200, '']);
  });

  test('a control that stops, or whose clock is wrong, is healthy and not ready', async (t) => {
    const peers = { seen: 2, obstacle: 'the service is stopping' };
    const api = await startTestApi(t, newSqlite, { peers });
    const ready = await readAnswer(await fetch(`${api.url}/readyz`));
    assert.deepEqual([ready.http, ready.errorCode], [503, 'notReady']);
    assert.ok(Number(ready.headers.get('retry-after')) > 0);
    assert.equal((await fetch(`${api.url}/healthz`)).status, 200);
    const { accessToken } = await api.join('customer', ['cdn']);
    assert.equal((await api.call('domain.list', accessToken, {})).http, 200, 'calls are answered all the same');
  });

  test('health and readiness are answered', async (t) => {
    const api = await startTestApi(t, newSqlite);
    for (const path of ['/healthz', '/readyz']) {
      const answer = await readAnswer(await fetch(api.url + path));
      assert.deepEqual([answer.http, answer.body], [200, { status: 1, info: 'ok', data: {} }]);
      assert.equal(answer.headers.get('content-security-policy'), "default-src 'none';frame-ancestors 'none'");
      assert.equal(answer.headers.get('x-frame-options'), 'DENY');
    }
    await api.db[Symbol.asyncDispose]();
    assert.equal((await fetch(`${api.url}/healthz`)).status, 200);
    const ready = await readAnswer(await fetch(`${api.url}/readyz`));
    assert.deepEqual([ready.http, ready.errorCode, ready.body['status']], [503, 'notReady', 0]);
    const answer = await api.call('domain.list', 'x', {});
    assert.deepEqual([answer.http, answer.errorCode], [500, 'internal'], 'our fault');
    const id = String(answer.headers.get('x-request-id'));
    assert.ok(String(answer.body['info']).includes(id));
    const logged = api.logLines
      .map((line) => JSON.parse(line))
      .filter(({ requestId, level }) => requestId === id && level === 'error');
    assert.equal(logged.length, 1, 'logged once');
  });

  test('requests are counted by operation and outcome, never by text of the caller', async (t) => {
    const api = await startTestApi(t, newSqlite);
    await api.call('domain.list', 'x', {});
    await api.post('/some/path', {});
    await api.post('/domain/%6cistDomains', {});
    await sendRaw(api, 'nonsense\r\n\r\n');
    const metrics = await api.registry.metrics();
    assert.match(metrics, /causeway_api_requests_total\{operation="domain\.list",outcome="tokenUnknown"\} 1/);
    assert.match(metrics, /causeway_api_requests_total\{operation="none",outcome="pathUnknown"\} 2/);
    assert.match(metrics, /causeway_api_requests_total\{operation="none",outcome="requestMalformed"\} 1/);
    assert.match(metrics, /causeway_api_request_duration_seconds_count\{operation="domain\.list"\} 1/);
    assert.equal(metrics.includes('some/path'), false);
  });

  test('a log line has the account, the operation, the domain and the duration', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const { accountId, accessToken } = await api.join('customer', ['cdn']);
    const added = await api.call('domain.add', accessToken, {
      domain: 'a.example.com',
      cdn_type: 1,
      data: '192.0.2.1',
    });
    const id = added.headers.get('x-request-id');
    await api.post('/no/such', {});
    await fetch(`${api.url}/healthz`);
    const lines = api.logLines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'request');
    const { durationMs, tokenId, ...line } = lines.find(({ requestId }) => requestId === id) ?? {};
    assert.ok(durationMs > 0);
    assert.equal(typeof tokenId, 'number');
    assert.equal(line.operation, 'domain.add');
    assert.equal(line.accountId, accountId);
    assert.equal(line.domainId, 1);
    assert.equal(lines.at(-1)?.path, '/no/such', 'and health is not worth a line');
    const metrics = await api.registry.metrics();
    const [, sum] = /duration_seconds_sum\{operation="domain.add"\} (\S+)/.exec(metrics) ?? [];
    assert.ok(Number(sum) > 0);
  });

  test("the language of texts is the request's, or else the setting's", async (t) => {
    const chinese = await startTestApi(t, newSqlite);
    const english = await startTestApi(t, newSqlite, { locale: 'en' });
    const info = async (api: TestApi, language?: string) =>
      (await api.post('/x', {}, language === undefined ? {} : { 'accept-language': language })).body['info'];
    assert.equal(await info(chinese), '接口不存在');
    assert.equal(await info(english), 'unknown operation');
    assert.equal(await info(english, 'zh'), '接口不存在');
    assert.equal(await info(chinese, 'fr, en;q=0.5, zh;q=0.4'), 'unknown operation');
  });

  test('each operation is answered at its path, and only to POST', async (t) => {
    const api = await startTestApi(t, newSqlite);
    for (const name of ROUTE_NAMES) {
      const code = ROUTES[name].scope === 'person' ? 'notSignedIn' : (WITHOUT_FIELDS.get(name) ?? 'fieldMissing');
      assert.equal((await api.post(ROUTES[name].path, {})).errorCode ?? 'none', code, name);
      assert.equal((await fetch(api.url + ROUTES[name].path)).status, 405, name);
    }
  });

  test('closing finishes requests in flight and accepts none', async (t) => {
    const api = await startTestApi(t, newSqlite);
    const socket = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8');
    const head = `POST ${ADD} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`;
    socket.write(`${head}Expect: 100-continue\r\nContent-Length: 2\r\n\r\n`);
    assert.match(String(await once(socket, 'data')), /^HTTP\/1\.1 100 Continue/, 'the request has begun');
    const answer = text(socket);
    const closing = api.close();
    await eventually('nothing new is taken', () =>
      fetch(`${api.url}/healthz`).then(
        () => false,
        () => true,
      ),
    );
    socket.write('{}');
    assert.match(await answer, /^HTTP\/1\.1 200 .*connection: close.*"status":0/is);
    await closing;
  });

  test('control speaks TLS if there is a certificate', needs('openssl'), async (t) => {
    const authority = createAuthority(t);
    const { cert, key } = authority.issue(['localhost']);
    const api = await startTestApi(t, newSqlite, { tls: { cert, key } });
    const request = httpsRequest(`${api.url}/healthz`, { ca: authority.ca, servername: 'localhost' }).end();
    const [response] = await once(request, 'response');
    assert.equal(response.statusCode, 200);
    await text(response);
    // In clear the client is told, also when it has more to send.
    const plain = connect(Number(new URL(api.url).port), '127.0.0.1').setEncoding('utf8');
    plain.write(`POST ${ADD} HTTP/1.1\r\nHost: a\r\n\r\n${'x'.repeat(1024 * 1024)}`);
    const answer = await text(plain);
    assert.match(
      answer,
      /^HTTP\/1\.1 400 Bad Request\r\n[\s\S]*x-error-code: plainHttp\r\n[\s\S]*connection: close\r\n/,
    );
    assert.match(answer, /https:\/\//);
    const secure = connectTls({ port: Number(new URL(api.url).port), ca: authority.ca, servername: 'localhost' });
    secure.write('GET /healthz RTSP/1.0\r\nHost: localhost\r\nConnection: close\r\n\r\n');
    assert.match(await text(secure), /^HTTP\/1\.1 400 .*requestMalformed/s);
    const again = httpsRequest(`${api.url}/healthz`, { ca: authority.ca, servername: 'localhost' }).end();
    const [second] = await once(again, 'response');
    assert.equal(second.statusCode, 200);
    await text(second);
  });
});
