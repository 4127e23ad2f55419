/** Repeated work: at once, then at a fixed interval, one round at a time. */

export interface Rounds extends AsyncDisposable {
  /** Starts a round now, unless one is running. Does nothing after disposal. */
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

/** Starts the rounds. Disposing waits for the current one. */
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
