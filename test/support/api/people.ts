/** People of a test's API: made as operators make them, signed in as browsers do. */
import assert from 'node:assert/strict';
import { totpCode } from '#api/auth/totp.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTES, type RouteName } from '#contract/routes.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import type { AccountKind } from '#model/account.ts';
import type { Role } from '#model/person.ts';
import { onAir } from '../live/live-reports.ts';
import { cookieOf, LOCAL_SECRET, type Raw, type TestApi } from './api.ts';
import { createAuthenticator } from './authenticator.ts';
import { dataOf } from './customers.ts';
import type { PreparedOperation } from './prepared-operation.ts';

export const PASSWORD = 'a river of 7 stones';

export interface TestPerson {
  readonly personId: string;
  readonly email: string;
  readonly accountId: number;
  /** Cookie of a session that has just begun. */
  readonly cookie: string;
}

interface Made {
  readonly email: string;
  readonly accountId: number;
  readonly role: Role;
}

/** A new account with a person who is signed in by a password. */
export async function joinAsPerson(api: TestApi, kind: AccountKind, role: Role, email = `${role}@example.com`) {
  const { id: accountId } = await createAccount(api.db.query, { name: `a ${kind}`, kind, now: api.now });
  return await makePerson(api, { email, accountId, role });
}

/** A person who has accepted the operator's link, and is signed in. */
export async function makePerson(api: TestApi, { email, accountId, role }: Made): Promise<TestPerson> {
  const asked = { email, name: `the ${role}`, account_id: accountId, role };
  const { person_id, link } = dataOf(await api.call('operator.createPerson', LOCAL_SECRET, asked));
  const accepted = await api.call('invitation.accept', '', { secret: secretOf(link), password: PASSWORD });
  assert.equal(dataOf(accepted)['next'], 'signIn');
  return { personId: String(person_id), email, accountId, cookie: await signInAs(api, email) };
}

/** What a link is good for stands behind `#`. */
export function secretOf(link: unknown): string {
  return new URL(String(link)).hash.slice(1);
}

export async function tryPassword(api: TestApi, email: string, password = PASSWORD, from = '192.0.2.10'): Promise<Raw> {
  const headers = { 'x-forwarded-for': from, 'accept-language': 'en', 'user-agent': 'Test/1' };
  return await api.post(ROUTES['session.begin'].path, { email, password }, headers);
}

/** The cookie of a new session, by the password alone. */
export async function signInAs(api: TestApi, email: string): Promise<string> {
  api.passedMs += 1000; // of the rate of sign-ins
  const answer = await api.call('session.begin', '', { email, password: PASSWORD });
  assert.equal(answer.errorCode, undefined, JSON.stringify(answer.body));
  return cookieOf(answer.headers);
}

/** Turns TOTP on; returns the key, and its recovery codes. The newest code that counts is that of `api.now`. */
export async function turnTotpOn(api: TestApi, cookie: string) {
  const { secret } = dataOf(await api.call('person.beginTotp', cookie, {}));
  const key = fromBase32(String(secret));
  const confirmed = dataOf(await api.call('person.confirmTotp', cookie, { code: codeAt(key, api.now) }));
  return { key, codes: confirmed['recovery_codes'] as readonly string[] };
}

export function codeAt(key: Buffer, at: number): string {
  return totpCode(key, Math.floor(at / 30_000));
}

/** RFC 4648 §6 */
export function fromBase32(text: string): Buffer {
  const bits = [...text].map((letter) =>
    'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter).toString(2).padStart(5, '0'),
  );
  const bytes = bits.join('').match(/.{8}/g) ?? [];
  return Buffer.from(bytes.map((byte) => Number.parseInt(byte, 2)));
}

/** Everything the operation's sample needs is there, as in `prepared-operation.ts`. */
export async function preparePeople(api: TestApi, name: RouteName): Promise<PreparedOperation> {
  const kind = name === 'session.look' ? 'operator' : 'customer';
  const person = await joinAsPerson(api, kind, kind === 'operator' ? 'admin' : 'owner');
  const { accountId, cookie, email } = person;
  const sample: Record<string, unknown> = { ...OPERATIONS[name].sample.request };
  const prepared = (request: Record<string, unknown>, accessToken = cookie) => ({
    accountId,
    accessToken,
    request: { ...sample, ...request },
  });
  const viewer = () => makePerson(api, { email: 'viewer@example.com', accountId, role: 'viewer' });
  switch (name) {
    case 'session.begin':
      return prepared({ email, password: PASSWORD }, '');
    case 'session.second': {
      const { key } = await turnTotpOn(api, cookie);
      return prepared({ code: codeAt(key, api.now + 30_000) });
    }
    case 'session.use':
      return prepared({ account_id: accountId });
    case 'session.look':
      await turnTotpOn(api, cookie);
      return prepared({ account_id: (await api.join('customer', ['cdn'])).accountId });
    case 'session.revoke': {
      const { session_id } = dataOf(await api.call('session.get', await signInAs(api, email), {}));
      return prepared({ session_id });
    }
    case 'person.confirmTotp': {
      const { secret } = dataOf(await api.call('person.beginTotp', cookie, {}));
      return prepared({ code: codeAt(fromBase32(String(secret)), api.now) });
    }
    case 'person.removeTotp':
    case 'person.makeRecoveryCodes':
      await turnTotpOn(api, cookie);
      return prepared({});
    case 'person.addPasskey':
      return prepared({ passkey: await makePasskey(api, cookie) });
    case 'person.removePasskey': {
      const passkey = await makePasskey(api, cookie);
      return prepared({ passkey_id: dataOf(await api.call('person.addPasskey', cookie, { passkey }))['passkey_id'] });
    }
    case 'live.preview': {
      const added = await api.call('domain.add', cookie, { domain: sample['domain'], cdn_type: 4 });
      const news = { domainId: Number(dataOf(added)['domain_id']), app: 'live', stream: 'news', broadcast: 'b1' };
      const report = { edge: 'edge-1', epoch: 'e1', events: [], streams: [onAir(news, api.now)] };
      await api.db.transaction((trx) => recordLiveReport(trx, report, api.now));
      return prepared({});
    }
    case 'invitation.get':
    case 'invitation.beginPasskey':
    case 'invitation.accept': {
      const invited = dataOf(await api.call('member.invite', cookie, OPERATIONS['member.invite'].sample.request));
      return prepared({ secret: secretOf(invited['link']), ...('password' in sample && { password: PASSWORD }) }, '');
    }
    default:
      return await prepareOthers();
  }

  /** Prepares operations that programs call with tokens, and `person.*` with the cookie. */
  async function prepareOthers(): Promise<PreparedOperation> {
    if (name.startsWith('person.') || name.startsWith('session.')) return prepared({});
    const personId = 'person_id' in sample ? (await viewer()).personId : undefined;
    const ids = {
      ...(personId !== undefined && { person_id: personId }),
      ...('account_id' in sample && { account_id: accountId }),
    };
    if (!name.startsWith('operator.')) return prepared(ids, await api.issue(accountId, { scopes: ['cdn', 'sms'] }));
    const operator = await api.join('operator', ['operator']);
    return { ...operator, request: { ...sample, ...ids } };
  }
}

async function makePasskey(api: TestApi, cookie: string): Promise<object> {
  const { options } = dataOf(await api.call('person.beginPasskey', cookie, {}));
  return createAuthenticator(consoleOriginOf(api)).create(options);
}

/** Where the console is opened unless a setting says otherwise. */
export function consoleOriginOf({ url }: TestApi): string {
  return `http://localhost:${new URL(url).port}`;
}

/** Operations that an identity provider has to answer for: test/api/identity-provider.test.ts has one. */
export const NEEDS_PROVIDER: readonly RouteName[] = ['session.beginProvider', 'person.linkProvider'];

/** Whether the operation concerns people, or takes their sessions alone, and so is prepared here. */
export function isOfPeople(name: RouteName): boolean {
  return /^(session|person|member|invitation)\.|^operator\..*Persons?(Status)?$|^live\.preview$/.test(name);
}
