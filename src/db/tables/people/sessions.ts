/** Sessions of browsers, by the hash of the secret in their cookie. Ended ones are deleted. docs/decisions/0662 */
import { type ExpressionBuilder, sql, type Transaction } from 'kysely';
import { type CustomerLook, isSessionAlive, type Session, type SignInMethod } from '#model/session.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema, SessionRow } from '../../schema/schema.ts';
import { rowStatement } from '../../statements/statement.ts';

/** What a session begins with. */
export interface NewSession extends Omit<Session, 'id' | 'seenAt' | 'look'> {
  /** Hash of the secret. */
  readonly hash: string;
}

export async function addSession(trx: Transaction<Schema>, session: NewSession): Promise<Session> {
  const row = await trx
    .insertInto('session')
    .values({
      hash: session.hash,
      person_id: session.personId ?? null,
      token_id: session.tokenId ?? null,
      account_id: session.accountId ?? null,
      method: session.method,
      pending: session.isPending ? 1 : 0,
      kept: session.isKept ? 1 : 0,
      created_at: session.createdAt,
      seen_at: session.createdAt,
      expires_at: session.expiresAt,
      strong_at: session.strongAt ?? null,
      look_account_id: null,
      look_until: null,
      look_reason: '',
      address: session.address,
      user_agent: session.userAgent,
    })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toSession(row);
}

export async function findSession(x: Executor, hash: string): Promise<Session | undefined> {
  const row = await x.selectFrom('session').selectAll().where('hash', '=', hash).executeTakeFirst();
  return row && toSession(row);
}

/** The holder of a session: a person, or a token. */
export type Holder = Pick<Session, 'personId' | 'tokenId'>;

/** Lists the sessions of a holder that are alive, newest first. */
export async function listSessions(x: Executor, holder: Holder, now: number): Promise<readonly Session[]> {
  const rows = await x
    .selectFrom('session')
    .selectAll()
    .where(ofHolder(holder))
    .where('pending', '=', 0)
    .orderBy('id', 'desc')
    .execute();
  return rows.map(toSession).filter((session) => isSessionAlive(session, now));
}

/** Deletes a session; returns false if there is none. */
export async function endSession(x: Executor, id: number): Promise<boolean> {
  const row = await x.deleteFrom('session').where('id', '=', id).returning('id').executeTakeFirst();
  return row !== undefined;
}

/** Deletes the sessions of a holder; `except`: but for this one. */
export async function endSessions(x: Executor, holder: Holder, except?: number): Promise<void> {
  await x
    .deleteFrom('session')
    .where(ofHolder(holder))
    .where('id', '<>', except ?? 0)
    .execute();
}

/** Deletes the oldest sessions of a holder, but for the newest `keep`. */
export async function endOldest(x: Executor, holder: Holder, keep: number): Promise<void> {
  const newest = x.selectFrom('session').select('id').where(ofHolder(holder)).orderBy('id', 'desc');
  const [first] = await newest.limit(1).offset(keep).execute();
  if (first === undefined) return;
  await x.deleteFrom('session').where(ofHolder(holder)).where('id', '<=', first.id).execute();
}

/** The account in view of a session; it looks at no other any more. */
export async function setAccountInView(x: Executor, id: number, accountId: number): Promise<void> {
  await x
    .updateTable('session')
    .set({ account_id: accountId, look_account_id: null, look_until: null, look_reason: '' })
    .where('id', '=', id)
    .execute();
}

/** Time that passes at least between two writes of when a session was seen, whichever controls it calls. */
const SEEN_EVERY_MS = 60_000;

const saveSeen = rowStatement({ id: 'bigint', at: 'bigint' }, ({ v, from, among }) => {
  return sql`
    update session set seen_at = ${v.at} ${from}
    where session.id = ${v.id} and ${among(sql`session.id`, 'id')}
      and seen_at <= ${v.at} - ${sql.lit(SEEN_EVERY_MS)}`;
});

/** Saves when sessions were seen, by id. A time within a minute of the one that is there is not written. */
export async function saveSessionsSeen(trx: Transaction<Schema>, seen: ReadonlyMap<number, number>): Promise<void> {
  await lockInTransaction(trx, 'sessions seen'); // of two controls each would wait for rows of the other
  const save = saveSeen(trx, [...seen]);
  if (save !== undefined) await trx.executeQuery(save.compile(trx));
}

/** Proof of more than the cookie, at `now`. */
export async function setStrong(
  x: Executor,
  id: number,
  { method, now }: { readonly method: SignInMethod; readonly now: number },
): Promise<void> {
  await x.updateTable('session').set({ method, strong_at: now }).where('id', '=', id).execute();
}

/** The customer's account that an operator looks at. */
export async function setLook(x: Executor, id: number, { accountId, until, reason }: CustomerLook): Promise<void> {
  await x
    .updateTable('session')
    .set({ look_account_id: accountId, look_until: until, look_reason: reason })
    .where('id', '=', id)
    .execute();
}

/** When the people were last seen, in any of their sessions. */
export async function lastSeen(x: Executor, personIds: readonly number[]): Promise<ReadonlyMap<number, number>> {
  if (personIds.length === 0) return new Map();
  const rows = await x
    .selectFrom('session')
    .where('person_id', 'in', personIds)
    .groupBy('person_id')
    .select((e) => ['person_id', e.fn.max('seen_at').as('at')])
    .execute();
  return new Map(rows.map(({ person_id, at }) => [person_id ?? 0, Number(at)]));
}

/** Deletes sessions that have expired. */
export async function pruneSessions(x: Executor, now: number): Promise<void> {
  await x.deleteFrom('session').where('expires_at', '<=', now).execute();
}

function ofHolder({ personId, tokenId }: Holder) {
  return (e: ExpressionBuilder<Schema, 'session'>) =>
    personId === undefined ? e('token_id', '=', tokenId ?? 0) : e('person_id', '=', personId);
}

function toSession(row: SessionRow): Session {
  return {
    id: row.id,
    ...(row.person_id !== null && { personId: row.person_id }),
    ...(row.token_id !== null && { tokenId: row.token_id }),
    ...(row.account_id !== null && { accountId: row.account_id }),
    method: row.method as SignInMethod, // `as`: this file is the only one that writes it
    isPending: row.pending === 1,
    isKept: row.kept === 1,
    createdAt: row.created_at,
    seenAt: row.seen_at,
    expiresAt: row.expires_at,
    ...(row.strong_at !== null && { strongAt: row.strong_at }),
    ...(row.look_account_id !== null && {
      look: { accountId: row.look_account_id, until: row.look_until ?? 0, reason: row.look_reason },
    }),
    address: row.address,
    userAgent: row.user_agent,
  };
}
