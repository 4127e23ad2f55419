/** People: passwords, second factors, passkeys, and what guessers learn. docs/decisions/0662, 0664 */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES } from '#contract/routes.ts';
import { rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { cookieOf, startTestApi } from '../support/api/api.ts';
import { createAuthenticator } from '../support/api/authenticator.ts';
import { dataOf } from '../support/api/customers.ts';
import {
  codeAt,
  consoleOriginOf,
  isOfPeople,
  joinAsPerson,
  makePerson,
  NEEDS_PROVIDER,
  PASSWORD,
  secretOf,
  signInAs,
  tryPassword,
  turnTotpOn,
} from '../support/api/people.ts';
import { prepareOperation } from '../support/api/prepared-operation.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

const MINUTE_MS = 60_000;
const PROXY = { trustedProxies: ['127.0.0.1'] };

describe('operations of people', () => {
  for (const name of ROUTE_NAMES.filter((known) => isOfPeople(known) && !NEEDS_PROVIDER.includes(known)))
    test(`${name} answers its sample with the fields of its contract`, async (t) => {
      const api = await startTestApi(t, newSqlite);
      const { accessToken, request } = await prepareOperation(t, api, name);
      const { body, errorCode } = await api.call(name, accessToken, request);
      assert.equal(errorCode, undefined, JSON.stringify(body));
      const { data, sample } = OPERATIONS[name];
      assert.equal(data.safeParse(body['data']).error, undefined, JSON.stringify(body));
      if (typeof sample.data === 'object')
        assert.deepEqual(Object.keys(Object(body['data'])).toSorted(), Object.keys(Object(sample.data)).toSorted());
    });
});

describeOnBothEngines('signing in', (newDatabase) => {
  test('a person signs in by a password, and with TOTP by a code that counts once', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email, accountId } = await joinAsPerson(api, 'customer', 'owner', 'Owner@Example.com');
    const { key, codes } = await turnTotpOn(api, cookie);
    assert.equal(codes.length, 10);
    assert.equal((await api.call('person.beginTotp', cookie, {})).errorCode, 'totpPresent');

    const begun = await tryPassword(api, email.toUpperCase());
    assert.equal(dataOf(begun)['next'], 'second');
    const pending = cookieOf(begun.headers);
    for (const name of ['session.get', 'domain.list', 'person.get', 'session.list'] as const)
      assert.equal((await api.call(name, pending, {})).errorCode, 'secondFactorAwaited', name);
    const used = codeAt(key, api.now);
    assert.equal((await api.call('session.second', pending, { code: used })).errorCode, 'signInFailed', 'it was used');
    assert.equal((await api.call('session.second', pending, { password: PASSWORD })).errorCode, 'signInFailed');
    api.now += MINUTE_MS;
    const code = codeAt(key, api.now);
    const done = await api.call('session.second', pending, { code });
    assert.equal(done.errorCode, undefined);
    const signedIn = cookieOf(done.headers);
    assert.notEqual(signedIn, pending, 'a new secret');
    assert.equal((await api.call('session.second', pending, { code })).errorCode, 'sessionEnded');
    const shown = dataOf(await api.call('session.get', signedIn, {}));
    assert.partialDeepStrictEqual(shown, {
      method: 'second',
      person: { email: 'owner@example.com', has_second_factor: '1' },
      account_id: String(accountId),
      access: ['read', 'write', 'manage', 'money'],
      strong_until: api.now + 15 * MINUTE_MS,
    });

    const again = cookieOf((await tryPassword(api, email)).headers);
    assert.equal((await api.call('session.second', again, { code })).errorCode, 'signInFailed', 'a code counts once');
    const recovered = await api.call('session.second', again, { recovery_code: codes[0]?.toUpperCase() });
    assert.equal(recovered.errorCode, undefined);
    const third = cookieOf((await tryPassword(api, email)).headers);
    const twice = await api.call('session.second', third, { recovery_code: codes[0] });
    assert.equal(twice.errorCode, 'signInFailed', 'a recovery code counts once');
    assert.equal(dataOf(await api.call('person.get', signedIn, {}))['recovery_codes'], 9);
  });

  test('browsers learn before the sign-in whether there are people, and where passkeys work', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const methods = async () => dataOf(await api.call('session.methods', '', {}));
    assert.deepEqual(await methods(), { console_url: consoleOriginOf(api), people: '0', provider: '' });
    await joinAsPerson(api, 'customer', 'owner');
    assert.partialDeepStrictEqual(await methods(), { people: '1' });
  });

  test('one of several tries at once with the same code counts', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email } = await joinAsPerson(api, 'customer', 'owner');
    const { key } = await turnTotpOn(api, cookie);
    api.now += MINUTE_MS;
    const sessions = [];
    for (let n = 0; n < 4; n += 1) sessions.push(cookieOf((await tryPassword(api, email)).headers));
    const code = codeAt(key, api.now);
    const answers = await Promise.all(sessions.map((one) => api.call('session.second', one, { code })));
    assert.equal(answers.filter(({ errorCode }) => errorCode === undefined).length, 1);
  });

  test('wrong tries hold up the network that they come from, for minutes, and nobody else', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { email, accountId } = await joinAsPerson(api, 'customer', 'owner');
    const other = await makePerson(api, { email: 'other@example.com', accountId, role: 'viewer' });
    const attack = () => tryPassword(api, email, 'not the password', '198.51.100.7');
    for (let n = 0; n < 5; n += 1) assert.equal((await attack()).errorCode, 'signInFailed');
    for (const minutes of [1, 2, 4, 8, 15, 15]) {
      const held = await attack();
      assert.deepEqual([held.http, held.errorCode], [429, 'tooManySignIns']);
      assert.equal(held.headers.get('retry-after'), String(minutes * 60));
      const right = await tryPassword(api, email, PASSWORD, '198.51.100.7');
      assert.equal(right.errorCode, 'tooManySignIns', 'the right one is not looked at');
      const elsewhere = await tryPassword(api, email, PASSWORD, '192.0.2.77');
      assert.equal(elsewhere.errorCode, undefined, 'from another network the person signs in');
      const neighbour = await tryPassword(api, other.email, PASSWORD, '198.51.100.7');
      assert.equal(neighbour.errorCode, undefined, 'from this network others do');
      api.now += minutes * MINUTE_MS;
      api.passedMs += 60_000;
      assert.equal((await attack()).errorCode, 'signInFailed');
    }
    api.now += 15 * MINUTE_MS;
    const done = await tryPassword(api, email, PASSWORD, '198.51.100.7');
    assert.equal(dataOf(done)['failed_before'], 11);
    assert.equal((await tryPassword(api, email, 'x', '198.51.100.7')).errorCode, 'signInFailed', 'they begin anew');
    const { list } = dataOf(
      await api.call('audit.list', await signInAs(api, email), { operation: 'session.begin', page_size: 100 }),
    );
    const failures = (list as readonly { changed: string[] }[]).filter(({ changed }) => changed.includes('outcome'));
    assert.equal(failures.length, 12);
  });

  test('several wrong tries at once are no more than one after the other', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { email } = await joinAsPerson(api, 'customer', 'owner');
    const answers = await Promise.all(Array.from({ length: 12 }, (_, n) => tryPassword(api, email, `wrong ${n}`)));
    const count = (code: string) => answers.filter(({ errorCode }) => errorCode === code).length;
    assert.deepEqual([count('signInFailed'), count('tooManySignIns')], [5, 7]);
  });

  test('an unknown address, a wrong password and a disabled person are answered alike', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const known = await joinAsPerson(api, 'customer', 'owner');
    const off = await makePerson(api, { email: 'off@example.com', accountId: known.accountId, role: 'viewer' });
    const operator = await api.join('operator', ['operator']);
    const disabled = { person_id: off.personId, enabled: 0 };
    assert.equal((await api.call('operator.setPersonStatus', operator.accessToken, disabled)).errorCode, undefined);
    assert.equal((await api.call('session.get', off.cookie, {})).errorCode, 'sessionEnded', 'at once');
    const rows: readonly (readonly [string, string])[] = [
      [known.email, 'wrong'],
      ['nobody@example.com', 'wrong'],
      [off.email, PASSWORD],
    ];
    const seen = [];
    for (const [email, password] of rows) {
      const written = await countRows(api.db.query);
      const begun = process.cpuUsage();
      const answer = await tryPassword(api, email, password);
      const { user, system } = process.cpuUsage(begun);
      const rest = [...answer.headers].filter(([name]) => !['x-request-id', 'date', 'keep-alive'].includes(name));
      const after = await countRows(api.db.query);
      seen.push({ body: answer.body, http: answer.http, rest, rows: after - written });
      assert.ok(user + system > 15_000, `a password was hashed for ${email}: ${user + system} µs`);
    }
    assert.deepEqual(seen[1], seen[0]);
    assert.deepEqual(seen[2], seen[0]);
    for (let n = 0; n < 4; n += 1) await tryPassword(api, 'nobody@example.com', 'wrong');
    const held = await tryPassword(api, 'nobody@example.com', 'wrong');
    assert.equal(held.errorCode, 'tooManySignIns', 'also of an address that nobody has');
  });

  test('a passkey signs in by itself, once for a challenge, and not with the page of another site', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email, personId } = await joinAsPerson(api, 'customer', 'owner');
    const mine = createAuthenticator(consoleOriginOf(api));
    const created = dataOf(await api.call('person.beginPasskey', cookie, {}))['options'];
    const passkey = mine.create(created);
    const elsewhere = createAuthenticator('https://evil.example').create(created);
    assert.equal((await api.call('person.addPasskey', cookie, { passkey: elsewhere })).errorCode, 'passkeyRefused');
    const unverified = createAuthenticator(consoleOriginOf(api), false).create(created);
    assert.equal((await api.call('person.addPasskey', cookie, { passkey: unverified })).errorCode, 'passkeyRefused');
    const added = await api.call('person.addPasskey', cookie, { passkey, label: 'laptop' });
    assert.equal(added.errorCode, undefined, JSON.stringify(added.body));
    assert.equal((await api.call('person.addPasskey', cookie, { passkey })).errorCode, 'passkeyRefused', 'once');
    assert.equal(dataOf(await api.call('session.get', cookie, {}))['method'], 'second', 'it has proven one');

    const challenge = async () => dataOf(await api.call('session.passkeyChallenge', '', {}))['options'];
    const answer = mine.get(await challenge());
    const begun = await api.call('session.begin', '', { passkey: answer, keep: 1 });
    assert.equal(dataOf(begun)['next'], 'done');
    assert.match(begun.headers.getSetCookie()[0] ?? '', /Max-Age=2592000$/);
    assert.equal((await api.call('session.begin', '', { passkey: answer })).errorCode, 'signInFailed', 'once');
    const late = mine.get(await challenge());
    api.now += 5 * MINUTE_MS;
    assert.equal((await api.call('session.begin', '', { passkey: late })).errorCode, 'signInFailed', 'too late');
    const forged = { ...mine.get(await challenge()), id: 'unknown', rawId: 'unknown' };
    assert.equal((await api.call('session.begin', '', { passkey: forged })).errorCode, 'signInFailed');
    const withPassword = { email, password: PASSWORD, keep: 1 };
    assert.equal((await api.call('session.begin', '', withPassword)).errorCode, 'keepUnused');
    assert.equal(dataOf(await tryPassword(api, email))['next'], 'second', 'a password alone is not enough any more');
    for (let n = 0; n < 6; n += 1) await tryPassword(api, email, 'wrong');
    const held = await api.call('session.begin', '', { passkey: mine.get(await challenge()) });
    assert.equal(held.errorCode, undefined, 'wrong passwords hold up no passkey');

    const signedIn = cookieOf(held.headers);
    const { list } = dataOf(await api.call('person.listPasskeys', signedIn, {}));
    assert.partialDeepStrictEqual(list, [{ label: 'laptop', used_at: api.now }]);
    const [{ passkey_id = '' } = {}] = list as { passkey_id?: string }[];
    assert.equal((await api.call('person.removePasskey', signedIn, { passkey_id: 999 })).errorCode, 'passkeyNotFound');
    assert.equal((await api.call('person.removePasskey', signedIn, { passkey_id })).errorCode, undefined);
    const gone = await api.call('session.begin', '', { passkey: mine.get(await challenge()) });
    assert.equal(gone.errorCode, 'signInFailed');
    const rows = Array.from({ length: 20 }, (_, n) => ({
      ...{ person_id: Number(personId), credential: `c${n}`, public_key: '', counter: 0, transports: '[]' },
      ...{ label: '', created_at: 0, used_at: null },
    }));
    await api.db.transaction((trx) => trx.insertInto('passkey').values(rows).execute());
    assert.equal((await api.call('person.beginPasskey', signedIn, {})).errorCode, 'passkeyLimit');
  });

  test('dangerous acts need a proof of the last 15 minutes, which a session gives again', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie } = await joinAsPerson(api, 'customer', 'owner');
    const make = () => api.call('token.create', cookie, { scopes: ['cdn'] });
    assert.equal((await make()).errorCode, undefined);
    api.now += 15 * MINUTE_MS;
    assert.equal((await make()).errorCode, 'proofNeeded');
    assert.equal((await api.call('domain.list', cookie, {})).errorCode, undefined);
    assert.equal((await api.call('session.second', cookie, { password: 'wrong' })).errorCode, 'signInFailed');
    const proven = await api.call('session.second', cookie, { password: PASSWORD });
    assert.deepEqual([proven.errorCode, proven.headers.getSetCookie()], [undefined, []]);
    assert.equal((await make()).errorCode, undefined);
    const { key } = await turnTotpOn(api, cookie);
    api.now += 15 * MINUTE_MS;
    assert.equal((await api.call('session.second', cookie, { password: PASSWORD })).errorCode, 'signInFailed');
    assert.equal((await api.call('session.second', cookie, { code: codeAt(key, api.now) })).errorCode, undefined);
    assert.equal((await make()).errorCode, undefined);
  });

  test('an account that asks for a second factor shows nothing without one', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const admin = await joinAsPerson(api, 'operator', 'admin');
    assert.equal((await api.call('operator.listAccounts', admin.cookie, {})).errorCode, 'secondFactorNeeded');
    assert.equal((await api.call('person.get', admin.cookie, {})).errorCode, undefined);
    await turnTotpOn(api, admin.cookie);
    assert.equal((await api.call('operator.listAccounts', admin.cookie, {})).errorCode, undefined);
    const { cookie } = await joinAsPerson(api, 'customer', 'owner', 'o2@example.com');
    assert.equal((await api.call('domain.list', cookie, {})).errorCode, undefined);
    await api.call('member.setSecondFactor', cookie, { required: 1 });
    assert.equal((await api.call('domain.list', cookie, {})).errorCode, 'secondFactorNeeded');
    assert.equal((await api.call('session.get', cookie, {})).errorCode, undefined);
  });

  test('a new password ends other sessions, and weak ones are refused', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email } = await joinAsPerson(api, 'customer', 'owner');
    const other = await signInAs(api, email);
    for (const password of ['short', 'password1234', `${email}1`]) {
      const refused = await api.call('person.setPassword', cookie, { password });
      assert.equal(refused.errorCode, 'passwordWeak', password);
      assert.equal(JSON.stringify(refused.body).includes(password), false);
    }
    assert.equal(
      (await api.call('person.setPassword', cookie, { password: 'a new lake of 9 birds' })).errorCode,
      undefined,
    );
    assert.equal((await api.call('session.get', other, {})).errorCode, 'sessionEnded');
    assert.equal((await api.call('session.get', cookie, {})).errorCode, undefined);
    assert.equal((await tryPassword(api, email)).errorCode, 'signInFailed');
    assert.equal((await tryPassword(api, email, 'a new lake of 9 birds')).errorCode, undefined);
    const stored = await api.db.query.selectFrom('person').select('secrets').executeTakeFirstOrThrow();
    assert.match(stored.secrets, /^v1\./, 'sealed');
  });

  test('a rotation of the key ring reseals what people prove, and they sign in as before', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email } = await joinAsPerson(api, 'customer', 'owner');
    const { key } = await turnTotpOn(api, cookie);
    const sealed = () => api.db.query.selectFrom('person').select('secrets').executeTakeFirstOrThrow();
    const before = (await sealed()).secrets;
    const { secrets, unopened, keyId } = await rotateKeyring(api.db, api.ring);
    assert.deepEqual([secrets, unopened], [1, 0]);
    const after = (await sealed()).secrets;
    assert.notEqual(after, before);
    assert.equal(after.split('.')[1], keyId);
    api.now += MINUTE_MS;
    const begun = cookieOf((await tryPassword(api, email)).headers);
    assert.equal((await api.call('session.second', begun, { code: codeAt(key, api.now) })).errorCode, undefined);
  });

  test('a profile is changed, sessions are listed and ended, and a time zone has to exist', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email } = await joinAsPerson(api, 'customer', 'owner');
    const change = { name: '李雷', locale: 'zh-CN', time_zone: 'Europe/Paris', density: 'dense' };
    assert.equal((await api.call('person.set', cookie, change)).errorCode, undefined);
    assert.partialDeepStrictEqual(dataOf(await api.call('person.get', cookie, {})), { ...change, email });
    const unknown = await api.call('person.set', cookie, { time_zone: 'Mars/Phobos' });
    assert.equal(unknown.errorCode, 'timeZoneUnknown');
    const other = await signInAs(api, email);
    const { list } = dataOf(await api.call('session.list', cookie, {}));
    assert.partialDeepStrictEqual(list, [
      { current: '0', method: 'password' },
      { current: '1', method: 'password', address: '127.0.0.1' },
    ]);
    const theirs = await joinAsPerson(api, 'customer', 'owner', 'else@example.com');
    const { session_id } = dataOf(await api.call('session.get', theirs.cookie, {}));
    assert.equal((await api.call('session.revoke', cookie, { session_id })).errorCode, 'sessionNotFound');
    assert.equal((await api.call('session.revoke', cookie, { others: 1 })).errorCode, undefined);
    assert.equal((await api.call('session.get', other, {})).errorCode, 'sessionEnded');
    assert.equal((await api.call('session.get', theirs.cookie, {})).errorCode, undefined);
    const ofToken = await api.signIn((await api.join('customer', ['cdn'])).accessToken);
    assert.equal((await api.call('person.get', ofToken, {})).errorCode, 'personMissing');
    for (const [name, code] of [
      ['person.removeTotp', 'totpAbsent'],
      ['person.makeRecoveryCodes', 'totpAbsent'],
    ] as const)
      assert.equal((await api.call(name, cookie, {})).errorCode, code);
    assert.equal((await api.call('person.confirmTotp', cookie, { code: '123456' })).errorCode, 'totpNotBegun');
    await api.call('person.beginTotp', cookie, {});
    assert.equal((await api.call('person.confirmTotp', cookie, { code: '123456' })).errorCode, 'codeWrong');
  });

  test('a link for a new password ends all sessions, and may remove second factors', async (t) => {
    const api = await startTestApi(t, newDatabase, PROXY);
    const { cookie, email, personId } = await joinAsPerson(api, 'customer', 'owner');
    await turnTotpOn(api, cookie);
    const operator = await api.join('operator', ['operator']);
    const ask = (request: Record<string, unknown>) =>
      api.call('operator.resetPerson', operator.accessToken, { person_id: personId, ...request });
    const first = secretOf(dataOf(await ask({}))['link']);
    const second = secretOf(dataOf(await ask({ second_factor: 1 }))['link']);
    const accept = (secret: string) => api.call('invitation.accept', '', { secret, password: 'a new lake of 9 birds' });
    assert.equal((await accept(first)).errorCode, 'invitationNotFound', 'the newer one counts');
    const nothing = await api.call('invitation.accept', '', { secret: second });
    assert.equal(nothing.errorCode, 'fieldMissing');
    assert.equal(dataOf(await accept(second))['next'], 'signIn');
    assert.equal((await accept(second)).errorCode, 'invitationNotFound', 'once');
    assert.equal((await api.call('session.get', cookie, {})).errorCode, 'sessionEnded');
    assert.equal(dataOf(await tryPassword(api, email, 'a new lake of 9 birds'))['next'], 'done');
    const late = secretOf(dataOf(await ask({}))['link']);
    api.now += 60 * MINUTE_MS;
    assert.equal((await accept(late)).errorCode, 'invitationNotFound', 'an hour');
    assert.equal((await ask({ person_id: 999 })).errorCode, 'personNotFound');
  });
});

/** Rows that sign-in writes. */
async function countRows(x: Awaited<ReturnType<typeof startTestApi>>['db']['query']): Promise<number> {
  const counts = await Promise.all(
    (['sign_in_try', 'audit_event', 'session'] as const).map((table) =>
      x
        .selectFrom(table)
        .select((e) => e.fn.countAll<number>().as('count'))
        .executeTakeFirstOrThrow(),
    ),
  );
  return counts.reduce((sum, { count }) => sum + Number(count), 0);
}
