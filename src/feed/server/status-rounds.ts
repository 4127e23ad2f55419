/**
 * Records reports of edges in rounds: those that arrive while a round runs are recorded together by the next one. A
 * report is acknowledged when its round is committed. docs/decisions/0586
 */
import { setImmediate as letOthersCome } from 'node:timers/promises';
import type { RecordedStatus } from '#db/tables/edges.ts';
import type { EdgeStatus } from '#model/edge.ts';

/** Reports in one round. */
const MAX_REPORTS = 500;
/** Characters of the reports in one round, but for a single report that has more. */
const MAX_CHARS = 4 * 1024 * 1024;
/** Reports that wait: more than edges that a control serves. */
const MAX_WAITING = 10_000;
const MAX_WAITING_CHARS = 64 * 1024 * 1024;

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

interface Waiting {
  readonly status: EdgeStatus;
  readonly chars: number;
  readonly outcome: PromiseWithResolvers<RecordedStatus>;
}

export function createStatusRounds({ record, isAway }: StatusRoundsOptions): StatusRounds {
  let waiting: Waiting[] = [];
  let waitingChars = 0;
  let isRunning = false;

  const runAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await letOthersCome(); // reports of the same turn share a round
      const { round, rest } = chooseRound(waiting);
      waiting = rest;
      waitingChars -= charsOf(round);
      await runRound(round);
    }
    isRunning = false;
  };
  /** Never rejects. */
  const runRound = async (round: readonly Waiting[]) => {
    try {
      const outcomes = await record(round.map(({ status }) => status));
      for (const [n, { outcome }] of round.entries()) outcome.resolve(outcomes[n] ?? 'superseded');
    } catch (error) {
      if (round.length === 1 || isAway(error)) for (const { outcome } of round) outcome.reject(error);
      // One of them may be at fault: it fails alone.
      else for (const one of round) await runRound([one]);
    }
  };
  return {
    async record(status, chars) {
      if (waiting.length >= MAX_WAITING || waitingChars + chars > MAX_WAITING_CHARS) return 'crowded';
      const outcome = Promise.withResolvers<RecordedStatus>();
      waiting.push({ status, chars, outcome });
      waitingChars += chars;
      if (!isRunning) void runAll(); // it never rejects
      return await outcome.promise;
    },
  };
}

/** Takes the oldest reports, at most one of each edge: a later one of the same edge is recorded after it. */
function chooseRound(waiting: readonly Waiting[]): { readonly round: readonly Waiting[]; readonly rest: Waiting[] } {
  const edges = new Set<string>();
  const round: Waiting[] = [];
  const rest: Waiting[] = [];
  let chars = 0;
  for (const one of waiting) {
    const fits = round.length === 0 || (round.length < MAX_REPORTS && chars + one.chars <= MAX_CHARS);
    if (!fits || edges.has(one.status.edge)) {
      rest.push(one);
    } else {
      round.push(one);
      chars += one.chars;
    }
    edges.add(one.status.edge);
  }
  return { round, rest };
}

function charsOf(reports: readonly Waiting[]): number {
  return reports.reduce((sum, { chars }) => sum + chars, 0);
}
