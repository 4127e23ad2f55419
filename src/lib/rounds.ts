/** Work that is done again and again: at once, then every so often, one round at a time. */

export interface Rounds extends AsyncDisposable {
  /** A round now, unless one is under way. Does nothing after the end. */
  start(): void;
  /** Aborts when the rounds end. */
  readonly signal: AbortSignal;
}

export interface RoundsOptions {
  readonly everyMs: number;
  /** A failure ends this round only. */
  readonly work: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
}

/** Disposing waits for the round that is under way. */
export function startRounds({ everyMs, work, onFailure }: RoundsOptions): Rounds {
  const stop = new AbortController();
  const { signal } = stop;
  let running: Promise<void> | undefined;
  const start = () => {
    if (signal.aborted) return;
    running ??= work(signal)
      .catch(onFailure)
      .finally(() => {
        running = undefined;
      });
  };
  const timer = setInterval(start, everyMs);
  start();
  return {
    start,
    signal,
    async [Symbol.asyncDispose]() {
      clearInterval(timer);
      stop.abort();
      await running;
    },
  };
}
