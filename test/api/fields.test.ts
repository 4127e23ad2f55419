/** Every field of every operation, given what it cannot be: a clear answer that names it, and nothing changed. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { SESSION_COOKIE } from '#contract/people/session-fields.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import { pageFields, startTestApi, type TestApi } from '../support/api/api.ts';
import { NEEDS_PROVIDER } from '../support/api/people.ts';
import { needsOf, prepareOperation } from '../support/api/prepared-operation.ts';
import { newSqlite } from '../support/db/databases.ts';

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
  ...['app_key', 'sendid', 'before', 'after', 'mobile', 'suffix', 'reference', 'target_id', 'ids', 'new_ssl_key'],
  ...[
    'host',
    'tls_ca',
    'tls_server_name',
    'system_id',
    'password',
    'system_type',
    'sender',
    'connectors',
    'reason',
    'access_token',
    'text',
    'provider_query',
    'provider_flow',
  ],
];

/** Checked in an order of their own, which test/api/sms.test.ts and sms-account.test.ts go through. */
const HAS_OWN_CHECKS: readonly RouteName[] = ['sms.ordinary', 'sms.advertising', 'sms.updateStatus', 'sms.split'];

/** A domain that is looked for may have any name. */
function readsAnyNumber(name: RouteName, field: string): boolean {
  return ANY_NUMBER_WILL_DO.includes(field) || (field === 'domain' && name !== 'domain.add');
}

/** SQLite alone: a wrong field is refused before any statement, and the suites of the operations run on both engines. */
describe('fields', () => {
  for (const name of ROUTE_NAMES.filter((known) => ![...HAS_OWN_CHECKS, ...NEEDS_PROVIDER].includes(known))) {
    test(
      `${name} refuses each field that is missing or wrong, names it, changes nothing, and ignores unknown fields`,
      needsOf(name),
      async (t) => {
        const api = await startTestApi(t, newSqlite);
        const { accessToken, request } = await prepareOperation(t, api, name);
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
        const isPage = accessToken.startsWith(SESSION_COOKIE);
        const token = isPage ? {} : { access_token: accessToken };
        const body = JSON.stringify({ ...token, ...request, unknown: { deep: [1] } });
        const answer = await api.post(
          ROUTES[name].path,
          `{"__proto__": {"access_token": "x", "domain_id": 77}, "constructor": 1, ${body.slice(1)}`,
          isPage ? pageFields(accessToken) : {},
        );
        assert.equal(answer.body['status'], ROUTES[name].base === 'sms' ? 1000 : 1, JSON.stringify(answer.body));
        assert.equal(Object.hasOwn(Object.prototype, 'domain_id'), false);
      },
    );
  }
});

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
