/** Records status reports of edges in rounds, each with at most one report of an edge. docs/decisions/0586 */
import type { RecordedStatus } from '#db/tables/edges.ts';
import { gatherCalls } from '#lib/gathered-calls.ts';
import type { EdgeStatus } from '#model/edge.ts';

/** Reports in one round, and characters of them. */
const ROUND = { calls: 500, size: 4 * 1024 * 1024 };
/** Reports that wait: more than edges that a control serves. */
const WAITING = { calls: 10_000, size: 64 * 1024 * 1024 };

export interface StatusRounds {
  /**
   * Resolves with the outcome when the report is stored durably, or at once with `crowded` if too many are waiting.
   * Rejects if the database fails. `chars`: length of the message.
   */
  record(status: EdgeStatus, chars: number): Promise<RecordedStatus | 'crowded'>;
}

export interface StatusRoundsOptions {
  /** Records reports of different edges, all or none; returns the outcomes in their order. */
  readonly record: (statuses: readonly EdgeStatus[]) => Promise<readonly RecordedStatus[]>;
  /** Whether the database cannot be reached, so that single reports would fail, too. */
  readonly isAway: (error: unknown) => boolean;
}

export function createStatusRounds({ record, isAway }: StatusRoundsOptions): StatusRounds {
  const reports = gatherCalls<EdgeStatus, RecordedStatus>({
    ...{ perform: record, isAway, round: ROUND, waiting: WAITING },
    keyOf: ({ edge }) => edge,
  });
  return { record: (status, chars) => reports.perform(status, chars) };
}
