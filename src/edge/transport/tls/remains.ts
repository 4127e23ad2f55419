/**
 * Collects the heap after many TLS connections have closed. Node frees the last few hundred bytes of a connection only
 * when old objects are collected, which may be much later. Thousands of such pieces lie between freed memory of
 * OpenSSL, and the allocator searches those holes for each record that is read or written. docs/decisions/0370
 */

export interface Remains {
  /** A connection has closed. */
  noteClosed(): void;
}

export interface RemainsOptions {
  /** Collects the whole heap; `undefined` if the engine was not started with `--expose-gc`. */
  readonly collect: (() => void) | undefined;
  /** Returns the processor time of this process until now. */
  cpuMs(): number;
}

/** Number of closed connections from which collecting pays off: fewer have no visible effect. */
const MIN_CLOSED = 1_000;
const LOOK_EVERY_MS = 1_000;
/**
 * If a connection closes more often than this, the worker mainly does handshakes: they do not suffer from holes, and
 * collecting would slow them.
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

/** Processor time of all threads of this process. */
export function processCpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
