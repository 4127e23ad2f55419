/** Repeated work: at a fixed interval and on request, one round at a time. */
import { createSharedRuns } from './shared-runs.ts';

export interface Rounds extends AsyncDisposable {
  /** Starts a round now, unless one is running. Does nothing after disposal. */
  start(): void;
  /** Starts a round now, or another one after the current round. Does nothing after disposal. */
  wake(): void;
  /** Aborts when the rounds end. */
  readonly signal: AbortSignal;
}

export interface RoundsOptions {
  readonly everyMs: number;
  /** The first round begins after an interval; otherwise at once. */
  readonly isDelayed?: true;
  /** A failure ends this round only. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  /** `isRepeated`: the round before failed, too. */
  readonly onFailure: (error: unknown, isRepeated: boolean) => void;
}

/** Starts the rounds. Disposing waits for the current one. */
export function startRounds({ everyMs, isDelayed, work, onFailure }: RoundsOptions): Rounds {
  const stop = new AbortController();
  const { signal } = stop;
  let isRunning = false;
  let isFailing = false;
  const run = createSharedRuns(async () => {
    if (signal.aborted) return;
    isRunning = true;
    try {
      await work(signal);
      isFailing = false;
    } catch (error) {
      onFailure(error, isFailing);
      isFailing = true;
    } finally {
      isRunning = false;
    }
  });
  const start = () => {
    if (!isRunning) void run(); // rejects only if `onFailure` throws
  };
  const timer = setInterval(start, everyMs);
  if (isDelayed !== true) start();
  return {
    start,
    wake: () => void run(), // as above
    signal,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop.abort();
      await run();
    },
  };
}
