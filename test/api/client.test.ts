/** The typed client: what it sends, as nginx saw it; what it makes of answers; every sample against the real service. */
import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { describe, test } from 'node:test';
import { createClient } from '#client/client.ts';
import { ClientError } from '#client/client-error.ts';
import { type CallOf, OPERATIONS } from '#contract/operations.ts';
import { STREAMING } from '#contract/route-kinds.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { addEdgeCertificate } from '#db/tables/fleet/edge-certificates.ts';
import { enrolEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { takeReceived } from '#db/tables/live/recordings.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { startTestApi } from '../support/api/api.ts';
import { addSampleLists } from '../support/api/customers.ts';
import { makeRevisions } from '../support/api/domain-revisions.ts';
import { isOfPeople } from '../support/api/people.ts';
import { DESK_OPTIONS } from '../support/api/sample-desk.ts';
import { addSampleEvent } from '../support/api/sample-event.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { READY } from '../support/feed/feed.ts';
import { onAir } from '../support/live/live-reports.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { startNginx } from '../support/nginx.ts';
import { needs } from '../support/runner/needs.ts';
import type { Cleanup } from '../support/temporary.ts';

/** nginx reads a body only when it passes it on, so it passes it on to itself. */
const WITNESS = `
    client_body_buffer_size 64k;
    location / { proxy_pass http://127.0.0.1:$server_port/witness; }
    location = /witness { access_log off; default_type application/json; return 200 '{"status":0,"info":"seen","code":0,"sendid":"","msg":"seen","data":{}}'; }
`;
const WITNESS_LOG = '$request_method $request_uri $content_type $http_accept $http_accept_language $request_body';

async function failureOf(call: Promise<unknown>): Promise<ClientError> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof ClientError, `a ClientError, not ${String(error)}`);
  return error;
}

/** A server that answers in its own way; gives its address. */
async function startServer(t: Cleanup, listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  return `http://127.0.0.1:${address.port}`;
}

/** Operations whose sample's answer has lists, which have to be set first. */
const READ_AFTER_SET: { readonly [N in RouteName]?: RouteName } = {
  'config.getPolicies': 'config.setPolicies',
  'config.getAddressLists': 'config.setAddressLists',
  'config.getRateLimits': 'config.setRateLimits',
  'config.getRedirects': 'config.setRedirects',
  'config.getResponseHeaders': 'config.setResponseHeaders',
  'config.getUrlSigning': 'config.setUrlSigning',
};

/** Operations whose sample's answer has a message. */
const NEEDS_MESSAGE: readonly RouteName[] = [
  ...(['sms.getStatus', 'sms.list', 'sms.listReplies', 'sms.find', 'sms.getMessage', 'sms.statistics'] as const),
];

describe('the client', () => {
  test(
    'the client sends each operation as the interface documents it, as seen by an independent server',
    needs('nginx'),
    async (t) => {
      const nginx = await startNginx(t, { server: WITNESS, logFormat: WITNESS_LOG });
      const client = createClient({
        baseUrl: `http://${nginx.address}/base/`,
        accessToken: 'a "token" 例',
        locale: 'en',
      });
      for (const name of ROUTE_NAMES) {
        const error = await failureOf(client.call(name, OPERATIONS[name].sample.request));
        assert.deepEqual([error.kind, error.info, error.status, error.http], ['refused', 'seen', 0, 200], name);
      }
      const seen = await eventually('nginx logged all', () => {
        const lines = nginx.logLines();
        return lines.length >= ROUTE_NAMES.length && lines;
      });
      const sent = ROUTE_NAMES.map((name) => {
        const body = JSON.stringify({ access_token: 'a "token" 例', ...OPERATIONS[name].sample.request });
        return `POST /base${ROUTES[name].path} application/json; charset=utf-8 application/json en ${body}`;
      });
      assert.deepEqual(seen.map(readNginxEscapes), sent);
    },
  );

  test(
    "the client decodes every sample from the real service, with the fields of the sample's answer",
    needs('openssl'),
    async (t) => {
      const api = await startTestApi(t, newSqlite, { livePorts: { http: 80, rtmp: 1935 }, ...DESK_OPTIONS });
      const first = await api.join('operator', ['cdn', 'sms', 'operator']);
      const customer = await api.join('customer', ['cdn', 'sms']);
      const other = await api.join('customer', ['cdn']);
      const client = createClient({ baseUrl: api.url, accessToken: first.accessToken });
      const own = createClient({ baseUrl: api.url, accessToken: customer.accessToken });
      // Operations of people: test/api/people.test.ts.
      // The lines of a search are in the service's own store: test/api/log-search.test.ts.
      const isOther = (name: RouteName) => isOfPeople(name) || STREAMING.has(name) || name === 'log.search';
      for (const name of ROUTE_NAMES.filter((known) => !isOther(known))) {
        const domain = `${name.toLowerCase()}.example`;
        const { domain_id } = await own.call('domain.add', {
          domain,
          cdn_type: name.startsWith('live') ? 4 : 1,
          data: '203.0.113.1:8080',
          backup: 'backup.example',
        });
        const ids: Record<string, unknown> = {
          account_id: String(customer.accountId),
          to_account_id: other.accountId,
          domain_id,
          token_id: name === 'operator.narrowToken' ? '2' : '3',
          urls: [`http://${domain}/a.jpg`],
          directories: [`http://${domain}/images/`],
        };
        if (name === 'domain.explain') ids['url'] = `http://${domain}/a.jpg`;
        if (name === 'cache.getTask') {
          ids['task_id'] = (await own.call('cache.prefetch', { urls: `http://${domain}/a.jpg` })).task_id;
          await api.acknowledge('local');
        }
        const setter = READ_AFTER_SET[name];
        if (setter !== undefined)
          await api.call(setter, customer.accessToken, { ...OPERATIONS[setter].sample.request, domain_id });
        if (/^certificate\.|Ssl$/.test(name)) {
          Object.assign(ids, await addTestCertificate(t, api, customer.accessToken, [domain]));
          const { sample } = OPERATIONS['config.setSsl'];
          if (name === 'config.getSsl') await own.call('config.setSsl', { ...sample.request, ...ids });
          if (name === 'certificate.get' || name === 'certificate.replace') {
            await own.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key: String(ids['ssl_key']) });
            ids['new_ssl_key'] = (await addTestCertificate(t, api, customer.accessToken, [domain])).ssl_key;
          }
        }
        if (name === 'domain.listBrief' || name === 'domain.propagation') {
          ids['name'] = domain;
          await createTestTraffic(t, api.db).addCounts(Number(domain_id), api.now, {
            requests: 4,
            hits: 3,
            bytesOut: 9,
          });
          await api.acknowledge('local');
        }
        if (name === 'domain.changeMany') ids['domain_ids'] = [domain_id];
        if (name === 'cache.listTasks') await own.call('cache.purge', { urls: `http://${domain}/a.jpg` });
        if (name.startsWith('log.') || name.startsWith('stat.')) {
          ids['domain'] = domain;
          const traffic = createTestTraffic(t, api.db);
          ids['starttime'] = ids['endtime'] = api.now;
          await traffic.addLines(Number(domain_id), api.now, ['one']);
          await traffic.addCounts(Number(domain_id), api.now, { requests: 4, hits: 3, bytesOut: 9 });
          await traffic.addTop(Number(domain_id), api.now, 'url', '/a', 1);
        }
        if (name.startsWith('live')) {
          ids['domain'] = domain;
          ids['starttime'] = ids['endtime'] = api.now;
          const stream = { domainId: Number(domain_id), app: 'live', stream: 'news', broadcast: 'b1' };
          const report = { edge: name, epoch: 'e', events: [], streams: [onAir(stream, api.now)] };
          await api.db.transaction((trx) => recordLiveReport(trx, report, api.now));
          const piece = {
            n: 0,
            key: `recordings/${name}`,
            initBytes: 4,
            mediaBytes: 6,
            durationMs: 10_000,
            isDiscontinuity: false,
          };
          const recording = { id: name.toLowerCase().replace('.', ''), ...stream, edge: name, beganAt: api.now };
          const received = { recording, piece, endsAt: api.now + 10_000, endReason: '' };
          await api.db.transaction((trx) => takeReceived(trx, received));
          ids['recording_id'] = recording.id;
          if (name === 'liveOperator.getKeys')
            await client.call('liveOperator.setKeys', { ...OPERATIONS['liveOperator.setKeys'].sample.request, ...ids });
        }
        if (/^sms/.test(name)) {
          const asked = { account_id: customer.accountId, name: 'shop', balance: 10 };
          const { app_key } = await client.call('smsOperator.createApp', asked);
          Object.assign(ids, { app_key, time: String(api.now) });
          if (NEEDS_MESSAGE.includes(name)) {
            const message = { app_key, mobile: '13800138000', content: domain, time: String(api.now) };
            ids['sendid'] = (await own.call('sms.ordinary', message)).sendid;
          }
          if (name === 'sms.listReplies') {
            const piece = { reference: 7, part: 1, parts: 2 };
            const reply = { connectorId: 1, origin: '+8613800138000', text: 'x', isOptOut: false, piece };
            await api.db.transaction((trx) => storeReplies(trx, [reply], api.now));
          }
          if (name === 'sms.testWebhook' || name === 'sms.listDeliveries')
            await own.call('sms.setWebhook', { app_key, url: 'https://shop.example/sms' });
          if (name === 'sms.listDeliveries') await own.call('sms.testWebhook', { app_key });
          if (name === 'smsOperator.listStates') {
            const attempt = { part_id: 1, connector_id: 1, sent_at: api.now, ended_at: api.now };
            const values = { ...attempt, outcome: 'refused', error: '0x0000000b' };
            await api.db.query.insertInto('sms_attempt').values(values).execute();
          }
          if (name === 'sms.getOptOuts') await own.call('sms.addOptOuts', { mobile: '13800138000' });
        }
        if (name === 'token.rotate' || name === 'token.revoke')
          ids['token_id'] = (await own.call('token.create', OPERATIONS['token.create'].sample.request)).token_id;
        if (name === 'event.list') await addSampleEvent(api, { accountId: customer.accountId });
        if (name.startsWith('edgeOperator')) {
          ids['group'] = 'default';
          const vitals = { ...READY, clockOffsetMs: -12 };
          await api.acknowledge('fra1', undefined, [], [], vitals);
          await api.db.query.updateTable('edge').set({ labels: '{"rack":"b7"}' }).where('id', '=', 'fra1').execute();
        }
        if (name === 'edgeOperator.exposure') {
          const { ssl_key } = await addTestCertificate(t, api, customer.accessToken, [domain]);
          await own.call('config.setSsl', { domain_id, ssl_control: '1', ssl_key });
          const group = 'exposed';
          await client.call('groupOperator.set', { name: group, default: '0' });
          const served = { account_id: String(customer.accountId), domain_id, groups: [group] };
          await client.call('groupOperator.setDomain', served);
          await enrolEdge(api.db.query, { edge: 'fra1', group, labels: {}, machine: '', sealKey: '' }, api.now);
        }
        if (name.startsWith('fleetOperator')) {
          ids['edge_id'] = 'par1';
          await client.call('groupOperator.set', { name: 'eu', default: 0 });
          ids['token_id'] = '1'; // made by fleetOperator.createToken
        }
        if (name === 'fleetOperator.acceptEdge') {
          ids['edge_id'] = 'lon1';
          await client.call('fleetOperator.addEdge', { edge_id: 'lon1', group: 'eu' });
          const serial = String(OPERATIONS[name].sample.request.serial);
          const certificate = {
            serial,
            edge: 'lon1',
            authority: '',
            publicKey: '',
            certificate: '',
            tokenId: undefined,
          };
          const times = { madeAt: api.now, notAfter: api.now + 1, replacedAt: undefined };
          await addEdgeCertificate(api.db.query, { ...certificate, state: 'replaced', ...times });
        }
        if (name === 'sinkOperator.list')
          await client.call('sinkOperator.set', OPERATIONS['sinkOperator.set'].sample.request);
        if (name === 'groupOperator.remove') {
          ids['name'] = 'gone';
          await client.call('groupOperator.set', { name: 'gone', default: 0 });
        }
        if (name === 'groupOperator.getDomain')
          await client.call('groupOperator.setDomain', { account_id: customer.accountId, domain_id, groups: ['eu'] });
        if (/^(domain|audit)/.test(name) && !/^domain.(add|get|list|delete)$/.test(name))
          Object.assign(
            ids,
            await makeRevisions((asked, request) => own.call(asked, request as CallOf<typeof asked>), domain_id),
          );
        if (name === 'operator.revokeToken' || name.endsWith('AccountLimits')) ids['account_id'] = other.accountId;
        if (name === 'config.setAddressLists')
          await addSampleLists((operation, call) => api.call(operation, customer.accessToken, call));
        if (name === 'addressList.delete') {
          ids['name'] = 'gone';
          await own.call('addressList.set', { name: 'gone', addresses: '' });
        }
        const { request, data } = OPERATIONS[name].sample;
        const changed = Object.entries(request).map(([field, value]) => [field, ids[field] ?? value]);
        const isOperators = ROUTES[name].scope === 'operator';
        const answer: unknown = await (isOperators ? client : own).call(name, Object.fromEntries(changed));
        assert.deepEqual(shapeOf(answer), shapeOf(data), name);
      }
    },
  );

  test("the client throws the service's error, with the ids that identify the call", async (t) => {
    const api = await startTestApi(t, newSqlite, { limits: { failedTokensPerMinute: 1 } });
    const { accessToken } = await api.join('customer', ['cdn']);
    const client = createClient({ baseUrl: api.url, accessToken, locale: 'en' });
    const missing = await failureOf(client.call('domain.get', { domain_id: 7 }));
    assert.deepEqual(
      [missing.kind, missing.code, missing.status, missing.http, missing.message],
      ['refused', 'domainNotFound', 0, 200, 'domain 7 does not exist'],
    );
    assert.match(missing.requestId ?? '', /^[0-9a-f-]{36}$/);
    const chinese = createClient({ baseUrl: api.url, accessToken, locale: 'zh-CN' });
    assert.equal((await failureOf(chinese.call('domain.get', { domain_id: 7 }))).info, '域名 7 不存在');
    const wrong = createClient({ baseUrl: api.url, accessToken: 'wrong', locale: 'en' });
    assert.equal((await failureOf(wrong.call('domain.list', {}))).code, 'tokenUnknown');
    const limited = await failureOf(wrong.call('domain.list', {}));
    assert.deepEqual([limited.kind, limited.code, limited.http], ['refused', 'tooManyFailedTokens', 429]);
  });

  test('the client tells apart no answer, a time-out, an abort, and an answer of another server', async (t) => {
    const silent = await startServer(t, () => undefined);
    const other = await startServer(t, (request, response) => {
      if (request.url === '/domain/getDomainById') response.writeHead(302, { location: '/x' }).end();
      else if (request.url === '/domain/deleteDomain') response.end('{"status":1,"info":"","data":"yes"}');
      else if (request.url === '/domain/setRemark')
        response.writeHead(200, { 'content-length': 100 }).write('{"sta', () => response.destroy());
      else response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>');
    });
    const at = (baseUrl: string, timeoutMs = 10_000) => createClient({ baseUrl, accessToken: 'x', timeoutMs });
    const closed = await failureOf(at('http://127.0.0.1:1').call('domain.list', {}));
    assert.deepEqual([closed.kind, closed.http], ['unreachable', undefined]);
    assert.match(closed.info, /cannot be reached: .*(ECONNREFUSED|bad port)/);
    assert.equal((await failureOf(at(silent, 50).call('domain.list', {}))).kind, 'timeout');
    const { signal } = new AbortController();
    const aborting = new AbortController();
    const pending = failureOf(
      at(silent).call('domain.list', {}, { signal: AbortSignal.any([signal, aborting.signal]) }),
    );
    aborting.abort();
    assert.equal((await pending).kind, 'aborted');
    const html = await failureOf(at(other).call('domain.list', {}));
    assert.deepEqual([html.kind, html.http], ['unexpected', 502]);
    assert.equal((await failureOf(at(other).call('domain.delete', { domain_id: 1 }))).kind, 'unexpected');
    assert.equal((await failureOf(at(other).call('domain.get', { domain_id: 1 }))).kind, 'unreachable', 'no redirects');
    assert.equal(
      (await failureOf(at(other).call('domain.setRemark', { domain_id: 1, remark: '' }))).kind,
      'unreachable',
    );
  });
});

/** nginx writes quotes, backslashes and bytes beyond ASCII as `\xHH`. */
function readNginxEscapes(line: string): string {
  const bytes = line.replace(/\\x([0-9A-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, 'latin1').toString('utf8');
}

/** Names and types, not values. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(
    Object.entries(value)
      .map(([key, member]) => [key, shapeOf(member)])
      .sort(),
  );
}
