/** The controls that share the database, by its clock. docs/decisions/0577 */
import { sql } from 'kysely';
import { CONTROL_SEEN_MS, type ControlFacts, type SeenControl } from '#model/control.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import { lockInTransaction, nowIn } from '../engines/engine.ts';
import type { Executor } from '../schema/schema.ts';

export interface OwnControl {
  readonly id: string;
  readonly startedAt: number;
  readonly facts: ControlFacts;
  readonly connectorsUp: readonly number[];
  readonly connectors: readonly ConnectorReport[];
  /** The process's clock, which counts on SQLite only. */
  readonly now: number;
}

/** Lets one control at a time join, so that of two with different settings the second one sees the first. */
export async function lockControls(trx: Executor): Promise<void> {
  await lockInTransaction(trx, 'controls');
}

/** Writes that the control is there. Returns the database's clock. */
export async function recordControl(x: Executor, control: OwnControl): Promise<number> {
  const { id, startedAt, facts, connectorsUp, connectors, now } = control;
  const values = {
    started_at: startedAt,
    seen_at: nowIn(x, now),
    facts: JSON.stringify(facts),
    connectors_up: JSON.stringify(connectorsUp),
    connectors: JSON.stringify(connectors),
  };
  const { seen_at } = await x
    .insertInto('control')
    .values({ id, ...values })
    .onConflict((conflict) => conflict.column('id').doUpdateSet(values))
    .returning('seen_at')
    .executeTakeFirstOrThrow();
  return seen_at;
}

/** Lists the controls that were seen within the last 15 s. */
export async function listControls(x: Executor, now: number): Promise<readonly SeenControl[]> {
  const rows = await x
    .selectFrom('control')
    .select(['id', 'seen_at', 'facts', 'connectors_up', 'connectors'])
    .where('seen_at', '>', sql<number>`${nowIn(x, now)} - ${sql.lit(CONTROL_SEEN_MS)}`)
    .orderBy('id')
    .execute();
  return rows.map((row) => ({
    id: row.id,
    seenAt: row.seen_at,
    // `as`, each time: written by `recordControl` only, if by another release then with more members.
    facts: JSON.parse(row.facts) as ControlFacts,
    connectorsUp: JSON.parse(row.connectors_up) as readonly number[],
    connectors: JSON.parse(row.connectors) as readonly ConnectorReport[],
  }));
}

/** Reads the database's clock. */
export async function readClock(x: Executor, now: number): Promise<number> {
  const { rows } = await sql<{ now: number }>`select ${nowIn(x, now)} as now`.execute(x);
  return rows[0]?.now ?? now;
}

export async function removeControl(x: Executor, id: string): Promise<void> {
  await x.deleteFrom('control').where('id', '=', id).execute();
}

/** Time after which a control that ended without a word is forgotten. */
const FORGET_MS = 24 * 3600 * 1000;

export async function pruneControls(x: Executor, now: number): Promise<void> {
  await x
    .deleteFrom('control')
    .where('seen_at', '<', sql<number>`${nowIn(x, now)} - ${sql.lit(FORGET_MS)}`)
    .execute();
}
