/** Members of accounts: roles, invitations, and operators who look at customers. docs/decisions/0662, 0665 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { isPersonal } from '#contract/route-kinds.ts';
import { ROUTE_NAMES, ROUTES, type Route, type RouteName } from '#contract/routes.ts';
import { ACCESS, SCOPES_OF_KIND } from '#model/account.ts';
import { accessOfRole, ROLES_OF_KIND, type Role } from '#model/person.ts';
import { cookieOf, pageFields, startTestApi, type TestApi } from '../support/api/api.ts';
import { createAuthenticator } from '../support/api/authenticator.ts';
import { add, dataOf } from '../support/api/customers.ts';
import {
  consoleOriginOf,
  joinAsPerson,
  makePerson,
  PASSWORD,
  secretOf,
  signInAs,
  turnTotpOn,
} from '../support/api/people.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

const HOUR_MS = 3_600_000;

/** Each role of each kind of account. */
const ROLES = (['customer', 'operator'] as const).flatMap((kind) =>
  ROLES_OF_KIND[kind].map((role: Role) => ({ kind, role })),
);

/** Refusals of callers who may not call an operation at all. */
const REFUSALS = ['pathUnknown', 'scopeMissing', 'roleLacksAccess'];

describe('roles', () => {
  for (const { kind, role } of ROLES)
    test(`${role} of ${kind === 'customer' ? 'a customer' : 'operators'} may call what the role's access allows, of every operation`, async (t) => {
      const api = await startTestApi(t, newSqlite, { limits: { tokenRateBurst: 100_000 } });
      const { cookie } = await joinAsPerson(api, kind, role);
      if (kind === 'operator') await turnTotpOn(api, cookie);
      const access = accessOfRole(kind, role);
      for (const name of ROUTE_NAMES.filter((known) => !isPersonal(known))) {
        const route: Route = ROUTES[name];
        const inScope = route.scope === 'any' || SCOPES_OF_KIND[kind].some((scope) => scope === route.scope);
        const expected = !inScope
          ? route.scope === 'operator'
            ? 'pathUnknown'
            : 'scopeMissing'
          : access.includes(route.access)
            ? 'allowed'
            : 'roleLacksAccess';
        const { errorCode = '' } = await api.call(name, cookie, { ...fieldsOf(name), time: api.now });
        assert.equal(REFUSALS.includes(errorCode) ? errorCode : 'allowed', expected, `${name}: ${errorCode}`);
      }
    });

  test('docs/people.md has the roles, and what each may do', () => {
    const text = readFileSync(join(import.meta.dirname, '../../docs/people.md'), 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+)` \| (customer|operator) \| ([^|]+) \|/gm)].map(
      ([, role, kind, access = '']) => [role, kind, [...access.matchAll(/`(\w+)`/g)].map(([, word]) => word)],
    );
    assert.deepEqual(
      rows,
      ROLES.map(({ kind, role }) => [role, kind, [...accessOfRole(kind, role)]]),
    );
  });
});

/** SMS operations check their fields before anything else. */
function fieldsOf(name: RouteName): Record<string, unknown> {
  return /^sms\.(ordinary|advertising|updateStatus)$/.test(name) ? { ...OPERATIONS[name].sample.request } : {};
}

describeOnBothEngines('members', (newDatabase) => {
  test('an owner invites somebody, who becomes a member with a name and a password, once', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const call = (name: RouteName, request: Record<string, unknown>) => api.call(name, owner.cookie, request);
    const invited = dataOf(await call('member.invite', { email: 'Han@Example.com', role: 'editor' }));
    assert.equal(invited['expires_at'], api.now + 72 * HOUR_MS);
    const secret = secretOf(invited['link']);
    assert.deepEqual(dataOf(await api.call('invitation.get', '', { secret })), {
      ...{ kind: 'member', email: 'han@example.com', account_name: 'a customer', role: 'editor', is_known: '0' },
      expires_at: invited['expires_at'],
    });
    const { list, invitations } = dataOf(await call('member.list', {}));
    assert.partialDeepStrictEqual([list, invitations], [[{ role: 'owner' }], [{ email: 'han@example.com' }]]);
    assert.equal((await api.call('invitation.accept', '', { secret })).errorCode, 'fieldMissing');
    const weak = { secret, name: 'Han', password: 'password1234' };
    assert.equal((await api.call('invitation.accept', '', weak)).errorCode, 'passwordWeak');
    const accepted = await api.call('invitation.accept', '', { secret, name: 'Han', password: PASSWORD });
    assert.equal(dataOf(accepted)['next'], 'done');
    const han = cookieOf(accepted.headers);
    assert.partialDeepStrictEqual(dataOf(await api.call('session.get', han, {})), {
      person: { name: 'Han', email: 'han@example.com' },
      account_id: String(owner.accountId),
      access: ['read', 'write'],
      accounts: [{ role: 'editor' }],
    });
    assert.equal(
      (await api.call('invitation.accept', '', { secret, password: PASSWORD })).errorCode,
      'invitationNotFound',
    );
    assert.equal(
      (await call('member.invite', { email: 'han@example.com', role: 'viewer' })).errorCode,
      'memberPresent',
    );
    assert.equal((await api.call('member.list', han, {})).errorCode, 'roleLacksAccess');
    await add((name, request) => api.call(name, han, request), 'han.example');
    const events = dataOf(await call('audit.list', { target_kind: 'domain' }))['list'];
    assert.partialDeepStrictEqual(events, [{ actor: 'person', actor_name: 'Han', token_id: '' }]);
  });

  test('somebody who is invited may join with a passkey, and has no password then', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const invite = async (email: string) =>
      secretOf(dataOf(await api.call('member.invite', owner.cookie, { email, role: 'viewer' }))['link']);
    const optionsOf = async (secret: string) =>
      dataOf(await api.call('invitation.beginPasskey', '', { secret }))['options'];
    const accept = (secret: string, passkey: object) =>
      api.call('invitation.accept', '', { secret, name: 'Han', passkey });
    const device = createAuthenticator(consoleOriginOf(api));
    const [secret, another] = [await invite('han@example.com'), await invite('mei@example.com')];
    const passkey = device.create(await optionsOf(secret));
    assert.equal((await accept(another, passkey)).errorCode, 'passkeyRefused', 'the challenge was for another link');
    const accepted = await accept(secret, passkey);
    assert.equal(dataOf(accepted)['next'], 'done');
    const han = cookieOf(accepted.headers);
    assert.partialDeepStrictEqual(dataOf(await api.call('session.get', han, {})), { method: 'passkey' });
    assert.partialDeepStrictEqual(dataOf(await api.call('person.get', han, {})), { password_at: 0, passkeys: 1 });
    assert.equal((await accept(secret, passkey)).errorCode, 'invitationNotFound');
    const { options } = dataOf(await api.call('session.passkeyChallenge', '', {}));
    assert.equal(dataOf(await api.call('session.begin', '', { passkey: device.get(options) }))['next'], 'done');
    const attacker = createAuthenticator('https://evil.example');
    assert.equal((await accept(another, attacker.create(await optionsOf(another)))).errorCode, 'passkeyRefused');
  });

  test('one of two people who accept an invitation at once becomes a member', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    for (let round = 0; round < 5; round += 1) {
      const email = `both${round}@example.com`;
      const { link } = dataOf(await api.call('member.invite', owner.cookie, { email, role: 'viewer' }));
      const accept = (name: string) =>
        api.call('invitation.accept', '', { secret: secretOf(link), name, password: PASSWORD });
      const codes = (await Promise.all([accept('one'), accept('two')])).map(({ errorCode }) => errorCode ?? 'done');
      assert.deepEqual(codes.toSorted(), ['done', 'invitationNotFound']);
    }
    const other = await joinAsPerson(api, 'customer', 'owner', 'other@example.com');
    const links = [];
    for (const { cookie } of [owner, other]) {
      const asked = { email: 'shared@example.com', role: 'viewer' };
      links.push(secretOf(dataOf(await api.call('member.invite', cookie, asked))['link']));
    }
    const codes = await Promise.all(
      links.map(async (secret) => (await api.call('invitation.accept', '', { secret, password: PASSWORD })).errorCode),
    );
    assert.deepEqual(codes.map((code) => code ?? 'done').toSorted(), ['done', 'signInToAccept'], 'one person is made');
  });

  test('a person who is known accepts only while signed in, by the own cookie', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const han = await joinAsPerson(api, 'customer', 'owner', 'han@example.com');
    const { link } = dataOf(await api.call('member.invite', owner.cookie, { email: han.email, role: 'viewer' }));
    const secret = secretOf(link);
    const path = ROUTES['invitation.accept'].path;
    const outcome = async (headers: Record<string, string>) =>
      (await api.post(path, { secret, password: PASSWORD }, headers)).errorCode;
    assert.equal(await outcome({}), 'signInToAccept', 'the link alone');
    assert.equal(await outcome(pageFields(owner.cookie)), 'signInToAccept', 'somebody else');
    assert.equal(await outcome({ cookie: han.cookie }), 'signInToAccept', 'it may come from another site');
    assert.equal(await outcome({ ...pageFields(han.cookie), 'sec-fetch-site': 'cross-site' }), 'crossSite');
    assert.equal(await outcome(pageFields(han.cookie)), undefined);
    const use = { account_id: owner.accountId };
    assert.equal((await api.call('session.use', han.cookie, use)).errorCode, undefined);
    const { access, account_id } = dataOf(await api.call('session.get', han.cookie, {}));
    assert.deepEqual([access, account_id], [['read'], String(owner.accountId)]);
  });

  test('a change of a role, a removal and a disabled person take effect at once', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const { accountId } = owner;
    const editor = await makePerson(api, { email: 'editor@example.com', accountId, role: 'editor' });
    const remark = () => api.call('cache.purge', editor.cookie, { urls: 'http://a.example/' });
    assert.equal((await remark()).errorCode, 'hostNotFound');
    const person_id = editor.personId;
    await api.call('member.setRole', owner.cookie, { person_id, role: 'viewer' });
    assert.equal((await remark()).errorCode, 'roleLacksAccess');
    await api.call('member.remove', owner.cookie, { person_id });
    assert.equal((await remark()).errorCode, 'accountNotInView');
    assert.equal((await api.call('session.get', editor.cookie, {})).errorCode, undefined);
    const back = { account_id: accountId };
    assert.equal((await api.call('session.use', editor.cookie, back)).errorCode, 'accountNotFound');
    for (const name of ['member.setRole', 'member.remove', 'member.resetPassword'] as const)
      assert.equal((await api.call(name, owner.cookie, { person_id, role: 'viewer' })).errorCode, 'memberNotFound');
  });

  test('the last owner stays, and of two who remove each other one does', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const { accountId, cookie, personId } = owner;
    assert.equal((await api.call('member.remove', cookie, { person_id: personId })).errorCode, 'memberLast');
    const down = { person_id: personId, role: 'editor' };
    assert.equal((await api.call('member.setRole', cookie, down)).errorCode, 'memberLast');
    const second = await makePerson(api, { email: 'second@example.com', accountId, role: 'owner' });
    const codes = await Promise.all([
      api.call('member.remove', cookie, { person_id: second.personId }),
      api.call('member.remove', second.cookie, { person_id: personId }),
    ]);
    const done = codes.filter(({ errorCode }) => errorCode === undefined);
    assert.equal(done.length, 1, JSON.stringify(codes.map(({ errorCode }) => errorCode)));
    const members = await api.db.query.selectFrom('membership').selectAll().execute();
    assert.equal(members.length, 1);
  });

  test('nobody gives a role that may do more, or that the account has not', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const { accountId, cookie, personId } = owner;
    const manager = await api.issue(accountId, { scopes: ['cdn', 'sms'], access: ['read', 'manage'] });
    const invite = (credential: string, role: Role) =>
      api.call('member.invite', credential, { email: `${role}@x.example`, role });
    for (const role of ['editor', 'billing', 'owner'] as const)
      assert.equal((await invite(manager, role)).errorCode, 'roleWidened', role);
    assert.equal((await invite(manager, 'viewer')).errorCode, undefined);
    const narrow = await api.issue(accountId, { scopes: ['cdn'] });
    assert.equal((await invite(narrow, 'viewer')).errorCode, 'roleWidened', 'a member sees messages, too');
    for (const name of ['member.setRole', 'member.remove', 'member.resetPassword'] as const) {
      const asked = { person_id: personId, role: 'viewer' };
      assert.equal((await api.call(name, manager, asked)).errorCode, 'roleWidened', name);
    }
    assert.equal((await invite(cookie, 'admin')).errorCode, 'roleUnknown');
    const other = await joinAsPerson(api, 'customer', 'owner', 'other@example.com');
    const { list } = dataOf(await api.call('member.list', other.cookie, {}));
    assert.equal((list as readonly unknown[]).length, 1, 'members of other accounts are not there');
    const reset = { person_id: personId };
    assert.equal((await api.call('member.resetPassword', other.cookie, reset)).errorCode, 'memberNotFound');
    await makePerson(api, { email: 'han@example.com', accountId, role: 'viewer' });
    const person_id = (await api.db.query.selectFrom('person').select('id').orderBy('id', 'desc').executeTakeFirst())
      ?.id;
    assert.equal((await api.call('member.resetPassword', cookie, { person_id })).errorCode, undefined);
    const operator = await api.join('operator', ['operator']);
    const both = { email: 'han@example.com', account_id: other.accountId, role: 'viewer' };
    assert.deepEqual(dataOf(await api.call('operator.createPerson', operator.accessToken, both)), {
      ...{ person_id: String(person_id), link: '', expires_at: 0 },
    });
    assert.equal(
      (await api.call('member.resetPassword', cookie, { person_id })).errorCode,
      'memberElsewhere',
      'else the owner of one account would get into the other',
    );
  });

  test('an invitation ends after 72 hours, with a newer one, and when it is withdrawn', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const { email } = owner;
    const invite = async () => {
      const cookie = await signInAs(api, email);
      return dataOf(await api.call('member.invite', cookie, { email: 'han@example.com', role: 'viewer' }));
    };
    const get = async (made: Record<string, unknown>) =>
      (await api.call('invitation.get', '', { secret: secretOf(made['link']) })).errorCode;
    const first = await invite();
    const second = await invite();
    assert.deepEqual([await get(first), await get(second)], ['invitationNotFound', undefined]);
    const withdrawn = { invitation_id: second['invitation_id'] };
    const other = await joinAsPerson(api, 'customer', 'owner', 'other@example.com');
    assert.equal((await api.call('member.remove', other.cookie, withdrawn)).errorCode, 'invitationNotFound');
    assert.equal((await api.call('member.remove', owner.cookie, withdrawn)).errorCode, undefined);
    assert.equal(await get(second), 'invitationNotFound');
    const third = await invite();
    api.now += 72 * HOUR_MS;
    assert.equal(await get(third), 'invitationNotFound');
  });

  test('an account has at most 500 members and invitations', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const owner = await joinAsPerson(api, 'customer', 'owner');
    const rows = Array.from({ length: 499 }, (_, n) => ({
      ...{ hash: `h${n}`, account_id: owner.accountId, person_id: null, email: `${n}@x.example`, role: 'viewer' },
      ...{ clears: 0, invited_by: 'person:1', created_at: api.now, expires_at: api.now + HOUR_MS },
    }));
    await api.db.transaction((trx) => trx.insertInto('invitation').values(rows).execute());
    const asked = { email: 'han@example.com', role: 'viewer' };
    assert.equal((await api.call('member.invite', owner.cookie, asked)).errorCode, 'memberLimit');
  });

  test('tokens are made by people within their role, and the last one of an account may go', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const { cookie, accountId } = await joinAsPerson(api, 'customer', 'owner');
    const made = dataOf(await api.call('token.create', cookie, { scopes: ['cdn', 'sms'], label: 'deploy' }));
    const { list, current } = dataOf(await api.call('token.list', cookie, {}));
    assert.partialDeepStrictEqual([list, current], [[{ label: 'deploy', access: [...ACCESS] }], '']);
    assert.equal((await api.call('domain.list', String(made['access_token']), {})).errorCode, undefined);
    const wide = await api.call('token.create', cookie, { scopes: ['operator'] });
    assert.equal(wide.errorCode, 'scopesWidened');
    assert.equal((await api.call('token.revoke', cookie, { token_id: made['token_id'] })).errorCode, undefined);
    assert.ok(accountId > 0);
  });

  test('the cookie of one account reaches nothing of another', async (t) => {
    const api = await startTestApi(t, newDatabase);
    const mine = await joinAsPerson(api, 'customer', 'owner');
    const theirs = await joinAsPerson(api, 'customer', 'owner', 'their@example.com');
    const id = await add((name, request) => api.call(name, theirs.cookie, request), 'their.example');
    for (const name of ['domain.get', 'domain.settings', 'domain.delete'] as const)
      assert.equal((await api.call(name, mine.cookie, { domain_id: id })).errorCode, 'domainNotFound');
    const use = { account_id: theirs.accountId };
    assert.equal((await api.call('session.use', mine.cookie, use)).errorCode, 'accountNotFound');
    assert.equal((await api.call('session.look', mine.cookie, { ...use, reason: 'x' })).errorCode, 'pathUnknown');
  });
});

describeOnBothEngines('operators who look at a customer', (newDatabase) => {
  test('an operator reads the account for an hour, changes nothing, and the customer sees it', async (t) => {
    const { api, customer, operator } = await startWithOperator(t, newDatabase);
    const id = await add((name, request) => api.call(name, customer.cookie, request), 'seen.example');
    const look = { account_id: customer.accountId, reason: 'ticket 4711' };
    const until = dataOf(await api.call('session.look', operator.cookie, look))['until'];
    assert.equal(until, api.now + HOUR_MS);
    const shown = dataOf(await api.call('session.get', operator.cookie, {}));
    assert.partialDeepStrictEqual(shown, {
      account_id: String(customer.accountId),
      access: ['read'],
      look: { ...look, account_id: String(customer.accountId), account_name: 'a customer', until },
    });
    assert.equal(dataOf(await api.call('domain.list', operator.cookie, {}))['total'], 1);
    const change = { domain_id: id, remark: 'x' };
    assert.equal((await api.call('domain.setRemark', operator.cookie, change)).errorCode, 'lookReadOnly');
    assert.equal((await api.call('operator.listAccounts', operator.cookie, {})).errorCode, 'pathUnknown');
    const { list } = dataOf(await api.call('audit.list', customer.cookie, { operation: 'session.look' }));
    assert.partialDeepStrictEqual(list, [{ actor: 'operator', actor_name: '', person_id: '' }]);
    const [{ event_id = '' } = {}] = list as { event_id?: string }[];
    const event = dataOf(await api.call('audit.get', customer.cookie, { event_id }));
    assert.partialDeepStrictEqual(event['after'], { reason: 'ticket 4711' });

    const back = { account_id: operator.accountId };
    assert.equal((await api.call('session.use', operator.cookie, back)).errorCode, undefined);
    assert.equal((await api.call('operator.listAccounts', operator.cookie, {})).errorCode, undefined);
    await api.call('session.look', operator.cookie, look);
    api.now += HOUR_MS;
    assert.equal((await api.call('operator.listAccounts', operator.cookie, {})).errorCode, undefined, 'it has ended');
    assert.equal((await api.call('domain.list', operator.cookie, {})).errorCode, 'scopeMissing');
  });

  test('looking needs a session, a customer, and a role that changes things', async (t) => {
    const { api, customer, operator } = await startWithOperator(t, newDatabase);
    const token = (await api.join('operator', ['operator'])).accessToken;
    const look = { account_id: customer.accountId, reason: 'x' };
    assert.equal((await api.call('session.look', token, look)).errorCode, 'notSignedIn');
    const own = { ...look, account_id: operator.accountId };
    assert.equal((await api.call('session.look', operator.cookie, own)).errorCode, 'accountNotCustomer');
    await api.call('session.look', operator.cookie, look);
    await api.db.transaction((trx) =>
      trx.updateTable('membership').set({ role: 'viewer' }).where('account_id', '=', operator.accountId).execute(),
    );
    assert.equal(
      (await api.call('domain.list', operator.cookie, {})).errorCode,
      'scopeMissing',
      'the role has changed',
    );
    const self = { person_id: operator.personId, enabled: 0 };
    await api.db.transaction((trx) =>
      trx.updateTable('membership').set({ role: 'admin' }).where('account_id', '=', operator.accountId).execute(),
    );
    await api.call('session.use', operator.cookie, { account_id: operator.accountId });
    assert.equal((await api.call('operator.setPersonStatus', operator.cookie, self)).errorCode, 'personSelf');
  });
});

async function startWithOperator(
  t: Parameters<typeof startTestApi>[0],
  newDatabase: Parameters<typeof startTestApi>[1],
) {
  const api: TestApi = await startTestApi(t, newDatabase);
  const customer = await joinAsPerson(api, 'customer', 'owner');
  const operator = await joinAsPerson(api, 'operator', 'admin');
  await turnTotpOn(api, operator.cookie);
  return { api, customer, operator };
}
