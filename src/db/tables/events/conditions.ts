/** Conditions that cause events: stored, so that a restart tells nothing twice. */
import { sql, type Transaction } from 'kysely';
import { type Condition, type ConditionKind, judgeConditions, type Observation } from '#model/condition.ts';
import type { EventData, EventTarget } from '#model/event.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Schema } from '../../schema/schema.ts';
import { addEvent } from './events.ts';

/** What was looked at: conditions of these kinds and this owner that are not observed do not hold. */
interface Look {
  readonly kinds: readonly ConditionKind[];
  /** Name of the machine that observes them; empty if any control can. */
  readonly owner: string;
  readonly observed: readonly Observation[];
}

/** Stores what has changed since the last look, with its events. Returns the number of events. */
export async function noteConditions(
  trx: Transaction<Schema>,
  { kinds, owner, observed }: Look,
  now: number,
): Promise<number> {
  await lockInTransaction(trx, `conditions:${owner}`);
  const rows = await trx
    .selectFrom('event_condition')
    .selectAll()
    .where('kind', 'in', kinds)
    .where('owner', '=', owner)
    .execute();
  const stored = rows.map(
    (row): Condition => ({
      // `as`, here and below: written by this function only.
      kind: row.kind as ConditionKind,
      key: row.key,
      accountId: row.account_id ?? undefined,
      target: { kind: row.target_kind as EventTarget['kind'], id: row.target_id, name: row.target_name },
      level: row.level,
      data: JSON.parse(row.data) as EventData,
      since: row.since,
      isRaised: row.raised === 1,
      absentSince: row.absent_since ?? undefined,
    }),
  );
  const { save, ended, events } = judgeConditions(stored, observed, now);
  for (const condition of save) await saveCondition(trx, owner, condition);
  for (const { kind, key } of ended)
    await trx
      .deleteFrom('event_condition')
      .where('kind', '=', kind)
      .where('owner', '=', owner)
      .where('key', '=', key)
      .execute();
  for (const event of events) await addEvent(trx, event);
  return events.length;
}

async function saveCondition(trx: Transaction<Schema>, owner: string, condition: Condition): Promise<void> {
  const { kind, key, accountId, target, level, data, since, isRaised, absentSince } = condition;
  const values = {
    account_id: accountId ?? null,
    target_kind: target.kind,
    target_id: target.id,
    target_name: target.name,
    level,
    data: JSON.stringify(data),
    since,
    raised: isRaised ? 1 : 0,
    absent_since: absentSince ?? null,
  };
  await trx
    .insertInto('event_condition')
    .values({ kind, owner, key, ...values })
    .onConflict((conflict) => conflict.columns(['kind', 'owner', 'key']).doUpdateSet(values))
    .execute();
}

/** Machines whose conditions are forgotten: a control that is gone observes none of its own any more. */
const FORGET_MS = 90 * 24 * 3600 * 1000;

export async function pruneConditions(trx: Transaction<Schema>, now: number): Promise<void> {
  await trx
    .deleteFrom('event_condition')
    .where('owner', '<>', '')
    .where(sql<boolean>`coalesce(absent_since, since) < ${now - FORGET_MS}`)
    .execute();
}
