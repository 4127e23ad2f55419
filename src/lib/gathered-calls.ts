/**
 * Group commit: calls that arrive while a round runs are performed together by the next one. A call is answered when its
 * round is done. docs/decisions/0586, 0740
 */
import { setTimeout as delay, setImmediate as letOthersCome } from 'node:timers/promises';
import type { Clock } from './clock.ts';

export interface GatheredCallsOptions<Call, Outcome> {
  /** Performs calls, all or none; returns the outcomes in their order. */
  readonly perform: (calls: readonly Call[]) => Promise<readonly Outcome[]>;
  /** Whether single calls would fail, too, such as while the database cannot be reached. */
  readonly isAway: (error: unknown) => boolean;
  /** Calls of one key are performed in rounds of their own, in their order; absent: any calls share a round. */
  readonly keyOf?: (call: Call) => string;
  /** Limits of one round. A single call may be larger. */
  readonly round: { readonly calls: number; readonly size: number };
  /** Limits of the calls that wait. */
  readonly waiting: { readonly calls: number; readonly size: number };
  /** Pauses between two rounds, in which further calls are gathered. Absent: there are none. */
  readonly pause?: Pause;
}

interface Pause {
  /** A pause lasts as long as the round before it, at most this. It ends when a round is full. */
  readonly maxMs: number;
  /** Monotonic milliseconds. */
  readonly clock: Clock;
}

export interface GatheredCalls<Call, Outcome> {
  /**
   * Resolves with the outcome when the call is performed, or at once with `crowded` if too many are waiting. `size`: in
   * the unit of the limits.
   */
  perform(call: Call, size: number): Promise<Outcome | 'crowded'>;
}

interface Waiting<Call, Outcome> {
  readonly call: Call;
  readonly size: number;
  readonly outcome: PromiseWithResolvers<Outcome>;
}

export function gatherCalls<Call, Outcome>(options: GatheredCallsOptions<Call, Outcome>): GatheredCalls<Call, Outcome> {
  const { perform, isAway, pause } = options;
  let waiting: Waiting<Call, Outcome>[] = [];
  let waitingSize = 0;
  let isRunning = false;
  /** End of the pause after the last round. */
  let gathersUntil = Number.NEGATIVE_INFINITY;
  /** Ends the pause early; absent outside of one. */
  let endPause: (() => void) | undefined;
  const isRoundFull = () => waiting.length >= options.round.calls || waitingSize >= options.round.size;

  const runAll = async () => {
    isRunning = true;
    while (waiting.length > 0) {
      await letOthersCome(); // calls of the same turn share a round
      await gather();
      const { round, rest } = chooseRound(waiting, options);
      waiting = rest;
      waitingSize -= sizeOf(round);
      const beganAt = pause?.clock() ?? 0;
      await runRound(round);
      if (pause !== undefined) gathersUntil = pause.clock() + Math.min(pause.maxMs, pause.clock() - beganAt);
    }
    isRunning = false;
  };
  const gather = async () => {
    const leftMs = pause === undefined ? 0 : gathersUntil - pause.clock();
    if (leftMs <= 0 || isRoundFull()) return;
    const ended = new AbortController();
    endPause = () => ended.abort();
    await delay(leftMs, undefined, { signal: ended.signal }).catch(() => undefined); // ended early
    endPause = undefined;
  };
  /** Never rejects. */
  const runRound = async (round: readonly Waiting<Call, Outcome>[]) => {
    try {
      const outcomes = await perform(round.map(({ call }) => call));
      for (const [n, { outcome }] of round.entries()) outcome.resolve(outcomes[n] as Outcome); // one for each call
    } catch (error) {
      if (round.length === 1 || isAway(error)) for (const { outcome } of round) outcome.reject(error);
      // One of them may be at fault: it fails alone.
      else for (const one of round) await runRound([one]);
    }
  };
  return {
    async perform(call, size) {
      if (waiting.length >= options.waiting.calls || waitingSize + size > options.waiting.size) return 'crowded';
      const outcome = Promise.withResolvers<Outcome>();
      waiting.push({ call, size, outcome });
      waitingSize += size;
      if (!isRunning)
        void runAll(); // it never rejects
      else if (isRoundFull()) endPause?.();
      return await outcome.promise;
    },
  };
}

/** Takes the oldest calls, at most one of each key: a later one of the same key is performed after it. */
function chooseRound<Call, Outcome>(
  waiting: readonly Waiting<Call, Outcome>[],
  { keyOf, round: limits }: GatheredCallsOptions<Call, Outcome>,
): { readonly round: readonly Waiting<Call, Outcome>[]; readonly rest: Waiting<Call, Outcome>[] } {
  const keys = new Set<string>();
  const round: Waiting<Call, Outcome>[] = [];
  const rest: Waiting<Call, Outcome>[] = [];
  let size = 0;
  for (const one of waiting) {
    const key = keyOf?.(one.call);
    const fits = round.length === 0 || (round.length < limits.calls && size + one.size <= limits.size);
    if (!fits || (key !== undefined && keys.has(key))) {
      rest.push(one);
    } else {
      round.push(one);
      size += one.size;
    }
    if (key !== undefined) keys.add(key);
  }
  return { round, rest };
}

function sizeOf(calls: readonly { readonly size: number }[]): number {
  return calls.reduce((sum, { size }) => sum + size, 0);
}
