/** How many parts wait, and for how long, for the metrics and for events. */
import { sql } from 'kysely';
import type { Executor } from '../../schema/schema.ts';

/** States in which a part waits: for a connector, for an answer that is overdue, for its receipt. */
const WAITING_STATES = ['queued', 'uncertain', 'submitted'] as const;
type WaitingState = (typeof WAITING_STATES)[number];

/** Parts of one state that are looked at: of a backlog of millions the metrics need not know the length. */
const MAX_COUNTED_PARTS = 100_000;

export interface QueueDepth {
  readonly state: WaitingState;
  /** Number of parts, at most `MAX_COUNTED_PARTS`. */
  readonly parts: number;
  /** Time since the oldest of those parts was due or, once sent, submitted; 0 if none waits. */
  readonly oldestMs: number;
}

/** Reads the depth of each state. A part that is due later, as after quiet hours, has not waited yet. */
export async function readQueueDepths(x: Executor, now: number): Promise<readonly QueueDepth[]> {
  const depths: QueueDepth[] = [];
  for (const state of WAITING_STATES) {
    const since = state === 'queued' ? sql.ref('due_at') : sql.ref('submitted_at');
    const { rows } = await sql<{ parts: number; oldest: number | null }>`
      select count(*) as parts, min(since) as oldest
        from (select ${since} as since from sms_part where state = ${sql.lit(state)} limit ${sql.lit(MAX_COUNTED_PARTS)}) as waiting`.execute(
      x,
    );
    const [{ parts, oldest } = { parts: 0, oldest: null }] = rows;
    depths.push({ state, parts: Number(parts), oldestMs: oldest === null ? 0 : Math.max(0, now - Number(oldest)) });
  }
  return depths;
}
