/** Connections that one timer looks at, now and then: thousands of their own would be set anew with each request. */
import type { EdgeLimits } from './limits.ts';

export interface Swept<T> {
  readonly all: Iterable<T>;
  add(one: T): void;
  delete(one: T): void;
}

/** `sweepMs`: since the last time. */
export function createSwept<T extends { sweep(sweepMs: number): void }>({
  requestHeaderMs,
  keepAliveMs,
  clientIdleMs,
}: EdgeLimits): Swept<T> {
  const all = new Set<T>();
  const sweepMs = Math.min(MAX_SWEEP_MS, requestHeaderMs / 4, keepAliveMs / 4, clientIdleMs / 4);
  let timer: NodeJS.Timeout | undefined;
  const sweep = () => {
    for (const one of all) one.sweep(sweepMs);
  };
  return {
    all,
    add: (one) => {
      all.add(one);
      timer ??= setInterval(sweep, sweepMs);
    },
    delete: (one) => {
      all.delete(one);
      if (all.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
  };
}

const MAX_SWEEP_MS = 1_000;
