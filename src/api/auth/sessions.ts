/** Whose session a cookie is, and what it may do now: all of it is looked up with each call, so what has ended ends it at once. docs/decisions/0662 */
import { ServiceError } from '#contract/errors/service-error.ts';
import type { Db } from '#db/open.ts';
import type { Executor } from '#db/schema/schema.ts';
import { findAccount } from '#db/tables/accounts.ts';
import { findMembership } from '#db/tables/people/members.ts';
import { findPerson } from '#db/tables/people/persons.ts';
import { findSession } from '#db/tables/people/sessions.ts';
import { findToken } from '#db/tables/tokens.ts';
import { hashToken } from '#lib/token.ts';
import { SCOPES_OF_KIND } from '#model/account.ts';
import { accessOfRole, asksForSecondFactor } from '#model/person.ts';
import { currentLook, hasProvenSecondFactor, isSessionAlive, type Session } from '#model/session.ts';
import { type Caller, type Principal, principalOfToken } from './authenticate.ts';

/** Throws `ServiceError` for anything but the secret of a session that is alive. */
export type AuthenticateSession = (secret: string, caller: Caller, now: number) => Promise<Principal>;

export function createAuthenticateSession(db: Pick<Db, 'lookUps'>): AuthenticateSession {
  return (secret, caller, now) =>
    db.lookUps.connection().execute(async (x) => {
      const session = await findSession(x, hashToken(secret));
      if (session === undefined || !isSessionAlive(session, now)) throw new ServiceError('sessionEnded');
      const { personId } = session;
      const own =
        personId === undefined ? await ofToken(x, session, caller, now) : await ofPerson(x, session, personId);
      return await withLook(x, own, now);
    });
}

async function ofToken(x: Executor, session: Session, { address }: Caller, now: number): Promise<SessionPrincipal> {
  const token = session.tokenId === undefined ? undefined : await findToken(x, session.tokenId);
  const account = token && (await findAccount(x, token.accountId));
  if (token === undefined || account === undefined) throw new ServiceError('sessionEnded');
  return { ...principalOfToken({ token, account }, address, now), session };
}

type SessionPrincipal = Principal & { readonly session: Session };

async function ofPerson(x: Executor, session: Session, personId: number): Promise<SessionPrincipal> {
  const person = await findPerson(x, personId);
  if (person === undefined || person.isDisabled) throw new ServiceError('sessionEnded');
  const named = { id: person.id, name: person.name === '' ? person.email : person.name };
  const nothing = { scopes: [], access: [], domainIds: undefined, limits: {}, isDisabled: false };
  const { accountId } = session;
  const membership =
    accountId === undefined || session.isPending ? undefined : await findMembership(x, { personId, accountId });
  const account = membership && (await findAccount(x, membership.accountId));
  if (membership === undefined || account === undefined) return { ...nothing, session, person: named };
  const { id, kind, limits, isDisabled } = account;
  return {
    session,
    person: named,
    accountId: id,
    scopes: SCOPES_OF_KIND[kind],
    access: accessOfRole(kind, membership.role),
    domainIds: undefined,
    limits,
    isDisabled,
    lacksSecondFactor: asksForSecondFactor(account) && !hasProvenSecondFactor(session),
  };
}

/** While an operator looks at a customer, the session reads that account, and can do nothing else. */
async function withLook(x: Executor, own: SessionPrincipal, now: number): Promise<Principal> {
  const look = currentLook(own.session, now);
  if (look === undefined || !mayLook(own)) return own;
  const account = await findAccount(x, look.accountId);
  if (account === undefined) return own;
  const { id, kind, limits } = account;
  return { ...own, accountId: id, scopes: SCOPES_OF_KIND[kind], access: ['read'], domainIds: undefined, limits };
}

function mayLook({ scopes, access, isDisabled }: Principal): boolean {
  return scopes.includes('operator') && access.includes('write') && !isDisabled;
}
