/** Every field of every operation, given what it cannot be: a clear answer that names it, and nothing changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { setGroup } from '#api/settings/edge-groups.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { addEdgeCertificate } from '#db/tables/fleet/edge-certificates.ts';
import { enrolEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { takeReceived } from '#db/tables/live/recordings.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { addTestCertificate } from '../support/api/added-certificate.ts';
import { startTestApi, type TestApi } from '../support/api/api.ts';
import { newSqlite } from '../support/db/databases.ts';
import { READY } from '../support/feed/feed.ts';
import { began, onAir } from '../support/live/live-reports.ts';
import { needs } from '../support/runner/needs.ts';
import type { Cleanup } from '../support/temporary.ts';

const BAD_VALUES: Readonly<Record<string, unknown>> = {
  'a boolean': true,
  'an object': { a: 1 },
  'lists in lists': [[['x']]],
  'text with NUL': 'a\0b',
  'text with an unpaired surrogate': 'a\ud800b',
  'text that is too long': '长'.repeat(30_000),
  'a number that is none of ours': 1e300,
};

/** Fields that read a number as its text, which may be valid. */
const ANY_NUMBER_WILL_DO = [
  ...['icp_no', 'remark', 'name', 'label', 'html_403', 'ua_str', 'ssl_title', 'ssl_key', 'ssl_key_second'],
  ...['app_key', 'sendid', 'before', 'after', 'mobile', 'suffix', 'reference'],
  ...['host', 'tls_ca', 'tls_server_name', 'system_id', 'password', 'system_type', 'sender', 'connectors', 'reason'],
];

/** Checked in an order of their own, which test/api/sms.test.ts goes through. */
const HAS_OWN_CHECKS: readonly RouteName[] = ['sms.ordinary', 'sms.advertising', 'sms.updateStatus'];

/** `fleetOperator.addEdge` needs an edge that is not enrolled. */
const NEEDS_ENROLLED: readonly RouteName[] = ['fleetOperator.revokeEdge', 'fleetOperator.acceptEdge'];

/** The group of their samples is `eu`. */
const NEEDS_GROUP: readonly RouteName[] = [
  'groupOperator.remove',
  'fleetOperator.createToken',
  'fleetOperator.addEdge',
];

/** The first token for edges also makes the fleet's authority. */
const NEEDS_EDGE_TOKEN: readonly RouteName[] = ['fleetOperator.revokeToken', 'fleetOperator.rotateAuthority'];

/** A domain that is looked for may have any name. */
function readsAnyNumber(name: RouteName, field: string): boolean {
  return ANY_NUMBER_WILL_DO.includes(field) || (field === 'domain' && name !== 'domain.add');
}

/** Tells whether the sample's request has a certificate. */
function hasCertificate(name: RouteName): boolean {
  return /^certificate\.|Ssl$/.test(name);
}

const needsOf = (name: RouteName) => (hasCertificate(name) ? needs('openssl') : {});

/** SQLite alone: a wrong field is refused before any statement, and the suites of the operations run on both engines. */
describe('fields', () => {
  for (const name of ROUTE_NAMES.filter((known) => !HAS_OWN_CHECKS.includes(known))) {
    test(
      `${name} refuses each field that is missing or wrong, names it, changes nothing, and ignores unknown fields`,
      needsOf(name),
      async (t) => {
        const api = await startTestApi(t, newSqlite);
        const { accessToken, request } = await prepare(t, api, name);
        const before = await readEverything(api);
        const refuse = async (field: string, what: string, changed: Record<string, unknown>, code: RegExp) => {
          const answer = await api.call(name, accessToken, changed);
          const where = `${name} ${field} as ${what}: ${JSON.stringify(answer.body)}`;
          assert.equal(answer.http, 200, where);
          assert.equal(answer.body['status'], ROUTES[name].base === 'sms' ? 2001 : 0, where);
          assert.match(answer.errorCode ?? '', code, where);
          assert.match(String(answer.body['info']), new RegExp(`^field ${field}(\\[|\\b).*expected `), where);
          assert.ok(String(answer.body['info']).length < 600, where);
        };
        for (const [field, { schema }] of Object.entries(OPERATIONS[name].request.fields)) {
          for (const [what, value] of Object.entries(BAD_VALUES)) {
            if (typeof value === 'number' && readsAnyNumber(name, field)) continue;
            await refuse(
              field,
              what,
              { ...request, [field]: value },
              /^(field|domainName|origin|url|entry|pem)Invalid$/,
            );
          }
          if (schema.safeParse(undefined).success) continue;
          const { [field]: _left, ...rest } = request;
          await refuse(field, 'nothing', rest, /^fieldMissing$/);
          await refuse(field, 'null', { ...request, [field]: null }, /^fieldMissing$/);
        }
        assert.deepEqual(await readEverything(api), before);
        const body = JSON.stringify({ access_token: accessToken, ...request, unknown: { deep: [1] } });
        const answer = await api.post(
          ROUTES[name].path,
          `{"__proto__": {"access_token": "x", "domain_id": 77}, "constructor": 1, ${body.slice(1)}`,
        );
        assert.equal(answer.body['status'], ROUTES[name].base === 'sms' ? 1000 : 1, JSON.stringify(answer.body));
        assert.equal(Object.hasOwn(Object.prototype, 'domain_id'), false);
      },
    );
  }
});

/** Everything the operation's sample needs is there; `request` is the sample with the real ids. */
async function prepare(
  t: Cleanup,
  api: TestApi,
  name: RouteName,
): Promise<{ accessToken: string; request: Record<string, unknown> }> {
  const customer = await api.join('customer', ['cdn', 'sms']);
  const other = await api.join('customer', ['cdn', 'sms']);
  const operator = await api.join('operator', ['operator']);
  const added = await api.call('domain.add', customer.accessToken, {
    domain: 'a.example.com',
    cdn_type: 1,
    data: 'origin.example.net',
  });
  const ids: Record<string, unknown> = {
    account_id: name === 'operator.narrowToken' ? other.accountId : customer.accountId,
    to_account_id: other.accountId,
    domain_id: memberOf(added.body, 'domain_id'),
    token_id: name === 'operator.narrowToken' ? 2 : 1,
  };
  if (/^(cache|log|stat)\./.test(name)) {
    await api.call('domain.add', customer.accessToken, {
      domain: 'www.example.com',
      cdn_type: 1,
      data: 'o.example.net',
    });
    await api.call('cache.purge', customer.accessToken, { urls: 'http://www.example.com/' });
    ids['task_id'] = 1;
  }
  if (NEEDS_GROUP.includes(name)) await setGroup(api.db, { name: 'eu', isDefault: false }, api.now);
  if (/^edgeOperator\./.test(name) || NEEDS_ENROLLED.includes(name)) await enrolSampleEdge(api);
  if (NEEDS_EDGE_TOKEN.includes(name)) {
    const { body } = await api.call('fleetOperator.createToken', operator.accessToken, {});
    ids['token_id'] = memberOf(body, 'token_id');
  }
  if (/^live/.test(name)) {
    const { body } = await api.call('domain.add', customer.accessToken, { domain: 'live.example.com', cdn_type: 4 });
    ids['domain_id'] = memberOf(body, 'domain_id');
    const news = { domainId: Number(ids['domain_id']), app: 'live', stream: 'news', broadcast: 'b1' };
    const told = { edge: 'edge-1', epoch: 'e1', events: [began(1, news, api.now)], streams: [onAir(news, api.now)] };
    await api.db.transaction((trx) => recordLiveReport(trx, told, api.now));
    const id = String(OPERATIONS['live.deleteRecording'].sample.request.recording_id);
    const recording = { id, ...news, edge: 'edge-1', beganAt: api.now };
    const received = { recording, piece: undefined, endsAt: api.now, endReason: 'ended' };
    await api.db.transaction((trx) => takeReceived(trx, received));
  }
  if (hasCertificate(name)) {
    Object.assign(ids, await addTestCertificate(t, api, customer.accessToken, ['a.example.com']));
  }
  if (/^sms/.test(name)) Object.assign(ids, await prepareSms(api, operator.accessToken, customer));
  if (name === 'smsOperator.deleteConnector') {
    const { request } = OPERATIONS['smsOperator.setConnector'].sample;
    await api.call('smsOperator.setConnector', operator.accessToken, request);
  }
  const sample: Record<string, unknown> = { ...OPERATIONS[name].sample.request };
  for (const [field, value] of Object.entries(ids)) if (field in sample) sample[field] = value;
  const isOperators = ROUTES[name].scope === 'operator';
  return { accessToken: isOperators ? operator.accessToken : customer.accessToken, request: sample };
}

/** Enrols the samples' edge with the samples' certificate. It has reported that it is ready. */
async function enrolSampleEdge({ db, now }: TestApi): Promise<void> {
  const { edge_id: edge, serial } = OPERATIONS['fleetOperator.acceptEdge'].sample.request;
  const id = String(edge);
  await enrolEdge(db.query, { edge: id, group: 'eu', labels: {}, machine: '', sealKey: '' }, now);
  await addEdgeCertificate(db.query, {
    serial: String(serial),
    edge: id,
    authority: 'a1',
    publicKey: 'b2',
    certificate: '',
    tokenId: undefined,
    state: 'current',
    madeAt: now,
    notAfter: now + 86_400_000,
    replacedAt: undefined,
  });
  const at = await readConfigHead(db.query);
  const report = { edge: id, at, appliedRevision: at.revision, rejected: [], build: 'b', startedAt: 5, origins: [] };
  await recordEdgeStatus(db.query, { ...report, vitals: READY }, now);
}

/** An SMS service, and a message of it. */
async function prepareSms(
  api: TestApi,
  operator: string,
  { accountId, accessToken }: { readonly accountId: number; readonly accessToken: string },
): Promise<Record<string, unknown>> {
  const asked = { account_id: accountId, name: 'shop', balance: 10 };
  const app_key = memberOf((await api.call('smsOperator.createApp', operator, asked)).body, 'app_key');
  const message = { app_key, mobile: '13800138000', content: 'a', time: api.now };
  const sent = await api.call('sms.ordinary', accessToken, message);
  return { app_key, sendid: sent.body['sendid'] };
}

function memberOf(body: Readonly<Record<string, unknown>>, name: string): string {
  const data = body['data'];
  assert.ok(typeof data === 'object' && data !== null && name in data, JSON.stringify(body));
  return String(Reflect.get(data, name));
}

async function readEverything({ db }: TestApi) {
  return {
    domains: await db.query.selectFrom('domain').selectAll().orderBy('id').execute(),
    accounts: await db.query.selectFrom('account').selectAll().orderBy('id').execute(),
    tokens: await db.query.selectFrom('token').selectAll().orderBy('id').execute(),
    resources: await db.query.selectFrom('resource').selectAll().orderBy('key').execute(),
    tasks: await db.query.selectFrom('cache_task').selectAll().orderBy('id').execute(),
    purges: await db.query.selectFrom('purge').selectAll().orderBy('key').execute(),
    certificates: await db.query.selectFrom('certificate').selectAll().orderBy('key').execute(),
    usage: await db.query.selectFrom('cache_usage').selectAll().orderBy('account_id').execute(),
    apps: await db.query.selectFrom('sms_app').selectAll().orderBy('id').execute(),
    connectors: await db.query.selectFrom('sms_connector').selectAll().orderBy('id').execute(),
    routes: await db.query.selectFrom('sms_route').selectAll().orderBy('prefix').execute(),
    prices: await db.query.selectFrom('sms_price').selectAll().orderBy('kind').orderBy('prefix').execute(),
    balances: await db.query.selectFrom('sms_balance').selectAll().orderBy('account_id').execute(),
    optOuts: await db.query.selectFrom('sms_opt_out').selectAll().orderBy('number').execute(),
    edges: await db.query.selectFrom('edge').selectAll().orderBy('id').execute(),
    edgeGroups: await db.query.selectFrom('edge_group').selectAll().orderBy('name').execute(),
    edgeTokens: await db.query.selectFrom('edge_token').selectAll().orderBy('id').execute(),
    edgeCertificates: await db.query.selectFrom('edge_certificate').selectAll().orderBy('serial').execute(),
    authorities: await db.query.selectFrom('fleet_authority').selectAll().orderBy('key').execute(),
    head: await db.query.selectFrom('config_head').selectAll().execute(),
  };
}
