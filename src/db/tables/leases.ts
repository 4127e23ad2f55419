/** Leases of controls that share the database, by its clock. docs/decisions/0577 */
import { sql, type Transaction } from 'kysely';
import type { StoredLease } from '#model/lease.ts';
import { nowIn } from '../engines/engine.ts';
import type { Executor, Schema } from '../schema/schema.ts';
import { rowList } from '../statements/lists.ts';

/** A transaction under a lease that has ended, or that another control holds. Nothing of it is stored. */
export class LeaseEnded extends Error {}

interface Holder {
  readonly holder: string;
  /** The process's clock, which counts on SQLite only. */
  readonly now: number;
}

export async function listLeases(x: Executor, now: number): Promise<readonly StoredLease[]> {
  const { rows } = await sql<{ name: string; holder: string; is_live: number }>`
    select name, holder, case when until > ${nowIn(x, now)} then 1 else 0 end as is_live from lease`.execute(x);
  return rows.map(({ name, holder, is_live }) => ({ name, holder, isLive: is_live === 1 }));
}

/**
 * Takes or renews leases for `leaseMs` from now on. Returns the names of those that are held: another control's are left
 * alone while they last.
 */
export async function takeLeases(
  x: Executor,
  names: readonly string[],
  { holder, now, leaseMs }: Holder & { readonly leaseMs: number },
): Promise<readonly string[]> {
  if (names.length === 0) return [];
  // In one order everywhere, or two controls could wait for each other.
  const list = rowList(
    x,
    names.toSorted().map((name) => [name]),
  );
  const { rows } = await sql<{ name: string }>`
    insert into lease (name, holder, until)
      select value ->> 0, ${holder}, ${nowIn(x, now)} + ${sql.lit(leaseMs)} from ${list} where true
    on conflict (name) do update set holder = excluded.holder, until = excluded.until
      where lease.holder = excluded.holder or lease.until <= ${nowIn(x, now)}
    returning name`.execute(x);
  return rows.map(({ name }) => name);
}

/** Ends leases of the holder before their time; `names` absent: all of them. */
export async function releaseLeases(x: Executor, holder: string, names?: readonly string[]): Promise<void> {
  const own = x.deleteFrom('lease').where('holder', '=', holder);
  await (names === undefined ? own : own.where('name', 'in', names)).execute();
}

/** Throws `LeaseEnded` unless the holder has the lease. The first statement of each transaction under it. */
export async function requireLease(trx: Transaction<Schema>, name: string, { holder, now }: Holder): Promise<void> {
  const { rows } = await sql`
    select 1 from lease where name = ${name} and holder = ${holder} and until > ${nowIn(trx, now)}`.execute(trx);
  if (rows.length === 0) throw new LeaseEnded(`the lease ${name} has ended`);
}
