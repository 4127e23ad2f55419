/** Signing in by an identity provider, which is a real one. docs/decisions/0666 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { createAccount } from '#db/tables/accounts.ts';
import type { Role } from '#model/person.ts';
import { cookieOf, startTestApi, type TestApi } from '../support/api/api.ts';
import { dataOf } from '../support/api/customers.ts';
import { CLIENT, type IdentityProvider, startIdentityProvider } from '../support/api/identity-provider.ts';
import { joinAsPerson, makePerson } from '../support/api/people.ts';
import { newSqlite } from '../support/db/databases.ts';

type Cleanup = Parameters<typeof startTestApi>[0];

describe('an identity provider', () => {
  const ends: (() => unknown)[] = [];
  let provider: IdentityProvider;
  before(async () => {
    provider = await startIdentityProvider({ after: (end) => void ends.push(end as () => unknown) });
  });
  after(async () => {
    for (const end of ends) await end();
  });

  async function start(t: Cleanup, groups: readonly { group: string; accountId: number; role: Role }[] = []) {
    return await startTestApi(t, newSqlite, { provider: { issuer: provider.issuer, ...CLIENT, groups } });
  }

  /** What a browser brings back from the provider. */
  async function visit(api: TestApi, login: string, change = (location: string) => location) {
    api.passedMs += 1000; // of the rate of sign-ins
    const { location, flow } = dataOf(await api.call('session.beginProvider', '', {}));
    const query = await provider.visit(change(String(location)), login);
    return { provider_query: query, provider_flow: String(flow) };
  }

  const signIn = async (api: TestApi, login: string) => await api.call('session.begin', '', await visit(api, login));

  test('somebody who has no other way to sign in is known by the verified address, and then by the identity', async (t) => {
    const api = await start(t);
    const { accountId } = await joinAsPerson(api, 'customer', 'owner');
    const { person_id } = await withoutPassword(api, 'han@example.com', accountId);
    assert.equal(dataOf(await api.call('session.methods', '', {}))['provider'], new URL(provider.issuer).host);
    const first = await signIn(api, 'verified:Han@Example.com');
    assert.partialDeepStrictEqual(dataOf(first), { next: 'done' });
    assert.partialDeepStrictEqual(dataOf(await api.call('session.get', cookieOf(first.headers), {})), {
      method: 'provider',
      person: { person_id, email: 'han@example.com' },
      account_id: String(accountId),
      access: ['read', 'write'],
    });
    const again = await signIn(api, 'verified:Han@Example.com');
    assert.equal(again.errorCode, undefined);
    const other = await signIn(api, 'staff:han@example.com');
    assert.equal(other.errorCode, 'providerNotLinked', 'another identity with the same address is not the person');
  });

  test('a verified address takes over nobody who signs in otherwise, until the person links the provider', async (t) => {
    const api = await start(t);
    const { cookie, email } = await joinAsPerson(api, 'customer', 'owner', 'li@example.com');
    assert.equal((await signIn(api, `verified:${email}`)).errorCode, 'providerNotLinked');
    const answer = await visit(api, `verified:${email}`);
    assert.equal((await api.call('person.linkProvider', cookie, answer)).errorCode, undefined);
    const told = dataOf(await api.call('audit.list', cookie, { operation: 'person.linkProvider' }));
    assert.equal((told['list'] as unknown[]).length, 1);
    const linked = await signIn(api, `verified:${email}`);
    assert.equal(linked.errorCode, undefined);
    assert.notEqual(dataOf(await api.call('person.get', cookie, {}))['provider_at'], 0);
    const mei = await makePerson(api, { email: 'mei@example.com', accountId: 1, role: 'viewer' });
    const taken = await api.call('person.linkProvider', mei.cookie, await visit(api, `verified:${email}`));
    assert.equal(taken.errorCode, 'identityTaken');
    assert.equal((await api.call('person.unlinkProvider', cookie, {})).errorCode, undefined);
    assert.equal((await signIn(api, `verified:${email}`)).errorCode, 'providerNotLinked');
    api.now += 16 * 60_000;
    assert.equal((await api.call('person.linkProvider', cookie, answer)).errorCode, 'proofNeeded');
  });

  test('an address that is not verified, an unknown one and a disabled person sign nobody in', async (t) => {
    const api = await start(t);
    const { accountId } = await joinAsPerson(api, 'customer', 'owner');
    await withoutPassword(api, 'han@example.com', accountId);
    assert.equal((await signIn(api, 'unverified:han@example.com')).errorCode, 'signInFailed');
    assert.equal((await signIn(api, 'verified:nobody@example.com')).errorCode, 'signInFailed');
    assert.equal((await signIn(api, 'verified:han@example.com')).errorCode, undefined);
    await api.db.query
      .updateTable('person')
      .set({ disabled_at: api.now })
      .where('email', '=', 'han@example.com')
      .execute();
    assert.equal((await signIn(api, 'verified:han@example.com')).errorCode, 'signInFailed');
  });

  test('answers of other browsers, forged, late and repeated ones are refused', async (t) => {
    const api = await start(t);
    const { accountId } = await joinAsPerson(api, 'customer', 'owner');
    await withoutPassword(api, 'han@example.com', accountId);
    const login = 'verified:han@example.com';
    const codeOf = async (request: object) => (await api.call('session.begin', '', { ...request })).errorCode;
    const [mine, another] = [await visit(api, login), await visit(api, login)];
    assert.equal(await codeOf({ ...mine, provider_flow: another.provider_flow }), 'providerRefused', 'another flow');
    assert.equal(await codeOf({ ...another, provider_flow: 'v1.x.y' }), 'providerRefused');
    assert.equal(await codeOf({ ...another, provider_query: '?error=access_denied' }), 'providerRefused');
    const forged = another.provider_query.replace(/state=[^&]+/, 'state=forged');
    assert.equal(await codeOf({ ...another, provider_query: forged }), 'providerRefused');
    const nonce = await visit(api, login, (location) => location.replace(/nonce=[^&]+/, 'nonce=forged'));
    assert.equal(await codeOf(nonce), 'providerRefused', 'the nonce of the ID token is another one');
    const challenge = await visit(api, login, (location) =>
      location.replace(/code_challenge=[^&]+/, `code_challenge=${'a'.repeat(43)}`),
    );
    assert.equal(await codeOf(challenge), 'providerRefused', 'the code is for another verifier');
    const used = await visit(api, login);
    assert.equal(await codeOf(used), undefined);
    assert.equal(await codeOf(used), 'providerRefused', 'a code is good once');
    const late = await visit(api, login);
    api.now += 10 * 60_000;
    assert.equal(await codeOf(late), 'providerRefused', 'ten minutes later');
    assert.equal(api.logLines.join('').includes(CLIENT.clientSecret), false);
  });

  test('groups give roles, which end with them, and leave alone what people gave', async (t) => {
    const api = await start(t, [
      { group: 'staff', accountId: 1, role: 'editor' },
      { group: 'ops', accountId: 2, role: 'admin' },
      { group: 'ops', accountId: 1, role: 'admin' }, // no role of a customer's account
    ]);
    await createAccount(api.db.query, { name: 'a customer', kind: 'customer', now: api.now });
    await createAccount(api.db.query, { name: 'operators', kind: 'operator', now: api.now });
    const rolesOf = async () => {
      const rows = await api.db.query.selectFrom('membership').selectAll().orderBy('account_id').execute();
      return rows.map(({ account_id, role }) => [account_id, role]);
    };
    const login = 'staff:new@example.com';
    const staff = await signIn(api, login);
    assert.partialDeepStrictEqual(dataOf(await api.call('session.get', cookieOf(staff.headers), {})), {
      person: { name: 'the one of staff', email: 'new@example.com' },
      access: ['read', 'write'],
    });
    assert.deepEqual(await rolesOf(), [[1, 'editor']]);
    await provider.move(login, 'ops');
    const promoted = await signIn(api, login);
    assert.equal(promoted.errorCode, undefined, api.logLines.join(''));
    const ops = cookieOf(promoted.headers);
    assert.deepEqual(await rolesOf(), [[2, 'admin']]);
    assert.equal((await api.call('operator.listAccounts', ops, {})).errorCode, undefined, 'it is a second factor');
    const { person_id } = dataOf(await api.call('person.get', ops, {}));
    const given = {
      person_id: Number(person_id),
      account_id: 1,
      role: 'viewer',
      invited_by: 'person:1',
      created_at: 1,
    };
    await api.db.query.insertInto('membership').values(given).execute();
    await provider.move(login, 'staff');
    await signIn(api, login);
    assert.deepEqual(await rolesOf(), [[1, 'viewer']]);
  });

  test('a provider that is away keeps nobody from signing in otherwise', async (t) => {
    const settings = { issuer: 'http://127.0.0.1:9', ...CLIENT, groups: [] };
    const away = await startTestApi(t, newSqlite, { provider: settings });
    assert.equal((await away.call('session.beginProvider', '', {})).errorCode, 'providerRefused');
    assert.match(away.logLines.join(''), /cannot sign in by the identity provider/);
    const { cookie } = await joinAsPerson(away, 'customer', 'owner');
    assert.equal((await away.call('session.get', cookie, {})).errorCode, undefined);
    const none = await startTestApi(t, newSqlite);
    assert.equal((await none.call('session.beginProvider', '', {})).errorCode, 'providerAbsent');
    assert.equal(dataOf(await none.call('session.methods', '', {}))['provider'], '');
  });
});

/** Somebody who is a member, and has never accepted the link. */
async function withoutPassword(api: TestApi, email: string, accountId: number) {
  const operator = await api.join('operator', ['operator']);
  const asked = { email, account_id: accountId, role: 'editor' };
  return dataOf(await api.call('operator.createPerson', operator.accessToken, asked));
}
