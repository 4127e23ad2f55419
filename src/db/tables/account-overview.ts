/** What operators see of accounts at a glance. */
import { sql } from 'kysely';
import type { DomainState } from '#model/domain.ts';
import type { Executor } from '../schema/schema.ts';

export interface AccountCounts {
  readonly domains: number;
  /** SMS apps. */
  readonly apps: number;
  /** Tokens that are not revoked. */
  readonly tokens: number;
  readonly balance: number;
}

/** Counts of each of these accounts. */
export async function readAccountCounts(
  x: Executor,
  accountIds: readonly number[],
): Promise<ReadonlyMap<number, AccountCounts>> {
  if (accountIds.length === 0) return new Map();
  const rows = await x
    .selectFrom('account as a')
    .select(['a.id', 'a.domains'])
    .select((e) => [
      e.selectFrom('sms_app').whereRef('account_id', '=', 'a.id').select(e.fn.countAll<number>().as('n')).as('apps'),
      e
        .selectFrom('token')
        .whereRef('account_id', '=', 'a.id')
        .where('revoked_at', 'is', null)
        .select(e.fn.countAll<number>().as('n'))
        .as('tokens'),
      e.selectFrom('sms_balance').whereRef('account_id', '=', 'a.id').select('balance').as('balance'),
    ])
    .where('a.id', 'in', accountIds)
    .execute();
  return new Map(
    rows.map(({ id, domains, apps, tokens, balance }) => [
      id,
      { domains, apps: Number(apps ?? 0), tokens: Number(tokens ?? 0), balance: balance ?? 0 },
    ]),
  );
}

/** Number of the account's domains in each state; states without one are absent. */
export async function countDomainStates(x: Executor, accountId: number): Promise<ReadonlyMap<DomainState, number>> {
  const { rows } = await sql<{ state: DomainState; domains: number }>`
    select state as state, count(*) as domains from domain
    where account_id = ${accountId} and deleted_at is null group by state`.execute(x);
  return new Map(rows.map(({ state, domains }) => [state, Number(domains)]));
}

/** Returns when one of the account's tokens was last used; `undefined`: never. */
export async function readLastTokenUse(x: Executor, accountId: number): Promise<number | undefined> {
  const row = await x
    .selectFrom('token')
    .select((e) => e.fn.max('last_used_at').as('at'))
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row?.at === null || row?.at === undefined ? undefined : Number(row.at);
}
