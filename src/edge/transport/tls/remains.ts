/**
 * What closed connections leave. Node frees the last of a TLS connection, some hundred bytes, when the engine collects
 * what is old, which may be long after. Thousands of such pieces lie between holes that were OpenSSL's, and the
 * allocator looks through those for each record that is read or written. So we have the engine collect once, where that
 * pays. docs/decisions/0370
 */

export interface Remains {
  /** A connection has closed. */
  noteClosed(): void;
}

export interface RemainsOptions {
  /** Collects the whole heap; `undefined` where the engine was not started for it. */
  readonly collect: (() => void) | undefined;
  /** That this process has taken until now. */
  cpuMs(): number;
}

/**
 * Closed connections from which collecting pays: a crowd has as many open at once, and fewer have no visible effect.
 */
const MIN_CLOSED = 1_000;
const LOOK_EVERY_MS = 1_000;
/**
 * While one closes more often than that, handshakes are what the worker does: they find no holes, and collecting would
 * slow them.
 */
const BUSY_MS_PER_CLOSED = 10;
/**
 * Processor time of other work after which the heap is collected. Collecting takes some 40 ms and makes reads and
 * writes up to a third cheaper.
 */
const OTHER_WORK_MS = 1_000;

export function createRemains({ collect, cpuMs }: RemainsOptions): Remains {
  let closed = 0;
  const watch = (): void => {
    let [lastClosed, lastCpuMs, otherWorkMs] = [closed, cpuMs(), 0];
    const timer = setInterval(() => {
      const busyMs = cpuMs() - lastCpuMs;
      if (busyMs > (closed - lastClosed) * BUSY_MS_PER_CLOSED) otherWorkMs += busyMs;
      [lastClosed, lastCpuMs] = [closed, lastCpuMs + busyMs];
      if (otherWorkMs < OTHER_WORK_MS) return;
      clearInterval(timer);
      closed = 0;
      collect?.();
    }, LOOK_EVERY_MS).unref();
  };
  return {
    noteClosed: () => {
      closed += 1;
      if (closed === MIN_CLOSED && collect !== undefined) watch();
    },
  };
}

/** All threads of this process. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
