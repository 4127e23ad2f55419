/** An API in which the sample of an operation succeeds. */
import assert from 'node:assert/strict';
import { setGroup } from '#api/settings/edge-groups.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTES, type RouteName } from '#contract/routes.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { addEdgeCertificate } from '#db/tables/fleet/edge-certificates.ts';
import { enrolEdge } from '#db/tables/fleet/enrolled-edges.ts';
import { takeReceived } from '#db/tables/live/recordings.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { listTokens } from '#db/tables/tokens.ts';
import { READY } from '../feed/feed.ts';
import { began, onAir } from '../live/live-reports.ts';
import { needs } from '../runner/needs.ts';
import type { Cleanup } from '../temporary.ts';
import { addTestCertificate } from './added-certificate.ts';
import type { TestApi } from './api.ts';
import { addSampleLists } from './customers.ts';
import { makeRevisions } from './domain-revisions.ts';
import { isOfPeople, preparePeople } from './people.ts';

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

/** Tells whether the sample's request has a certificate. */
function hasCertificate(name: RouteName): boolean {
  return /^certificate\.|Ssl$/.test(name);
}

/** What preparing the operation needs besides Node. */
export const needsOf = (name: RouteName) => (hasCertificate(name) ? needs('openssl') : {});

export interface PreparedOperation {
  /** The account whose token may call it. */
  readonly accountId: number;
  /** A token; for operations of people, the cookie of a session. */
  readonly accessToken: string;
  readonly request: Record<string, unknown>;
}

/** Everything the operation's sample needs is there; `request` is the sample with the real ids. */
export async function prepareOperation(t: Cleanup, api: TestApi, name: RouteName): Promise<PreparedOperation> {
  if (isOfPeople(name)) return await preparePeople(api, name);
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
  if (/^audit|^domain\.(settings|change|compare|revert|.*Revisions?)$/.test(name)) {
    const call = async (asked: RouteName, fields: Record<string, unknown>) =>
      (await api.call(asked, customer.accessToken, fields)).body['data'];
    Object.assign(ids, await makeRevisions(call, ids['domain_id']));
  }
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
  if (name === 'certificate.get' || name === 'certificate.replace') {
    const { ssl_key } = ids;
    await api.call('config.setSsl', customer.accessToken, { domain_id: ids['domain_id'], ssl_control: 1, ssl_key });
    const other = await addTestCertificate(t, api, customer.accessToken, ['a.example.com']);
    ids['new_ssl_key'] = other['ssl_key'];
  }
  if (name === 'domain.changeMany') ids['domain_ids'] = [ids['domain_id']];
  if (name.startsWith('token.')) {
    await api.issue(customer.accountId, { scopes: ['cdn'], access: ['manage'] });
    const tokens = await listTokens(api.db.query, customer.accountId);
    ids['token_id'] = tokens.at(-1)?.id;
  }
  if (/^sms/.test(name)) Object.assign(ids, await prepareSms(api, operator.accessToken, customer));
  if (name === 'sinkOperator.list' || name === 'sinkOperator.test' || name === 'sinkOperator.remove')
    await api.call('sinkOperator.set', operator.accessToken, { ...OPERATIONS['sinkOperator.set'].sample.request });
  if (name === 'sms.testWebhook') {
    const webhook = { app_key: ids['app_key'], url: 'https://shop.example/sms' };
    await api.call('sms.setWebhook', customer.accessToken, webhook);
  }
  if (name === 'smsOperator.deleteConnector') {
    const { request } = OPERATIONS['smsOperator.setConnector'].sample;
    await api.call('smsOperator.setConnector', operator.accessToken, request);
  }
  if (name.includes('ddressList') && name !== 'addressList.set')
    await addSampleLists((operation, request) => api.call(operation, customer.accessToken, request));
  if (name === 'domain.explain') ids['url'] = 'http://a.example.com/a.jpg';
  const sample: Record<string, unknown> = { ...OPERATIONS[name].sample.request };
  for (const [field, value] of Object.entries(ids)) if (field in sample) sample[field] = value;
  return { ...(ROUTES[name].scope === 'operator' ? operator : customer), request: sample };
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
