/**
 * The stage between "stored" and "in force": requests confirmation of stored changes, one request at a time. Later
 * changes are merged into the next request, so a slow worker costs time but no memory.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { backoffDelayMs } from '#lib/backoff.ts';
import type { Logger } from '#lib/logger.ts';
import { createSharedRuns } from '#lib/shared-runs.ts';
import type { FeedPosition } from '#model/feed-position.ts';

/** Names in one request; beyond it, the request is for all sites. */
const MAX_NAMES = 10_000;
const RETRY = { firstMs: 100, capMs: 5000 };

export interface StoredChange {
  readonly revision: number;
  /** Sites that changed; absent: any. */
  readonly names: readonly string[] | undefined;
}

export interface Confirmations extends AsyncDisposable {
  /** Adds a stored change; calls come in the order of storing. */
  add(head: FeedPosition, names: readonly string[] | undefined): void;
  /** Discards all added changes: none of them is confirmed after this. */
  forget(): void;
}

export interface ConfirmationsOptions {
  /** Resolves when every worker runs the change; rejects to be called again. */
  readonly confirm: (change: StoredChange) => Promise<void>;
  readonly onConfirmed: (head: FeedPosition) => void;
  readonly log: Logger;
}

interface Pending {
  readonly head: FeedPosition;
  readonly names: ReadonlySet<string> | undefined;
}

export function createConfirmations({ confirm, onConfirmed, log }: ConfirmationsOptions): Confirmations {
  const stop = new AbortController();
  let pending: Pending | undefined;
  let running: Promise<void> | undefined;
  let forgets = 0;
  const runAll = createSharedRuns(run);

  return {
    add(head, names) {
      pending = merge(pending, { head, names: names && new Set(names) });
      running = runAll();
    },
    forget() {
      pending = undefined;
      forgets += 1;
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
    },
  };

  /** Never rejects. */
  async function run(): Promise<void> {
    let failures = 0;
    while (pending !== undefined && !stop.signal.aborted) {
      const asked: Pending = pending;
      const forgetsBefore = forgets;
      pending = undefined;
      try {
        await unlessStopped(confirm({ revision: asked.head.revision, names: asked.names && [...asked.names] }));
        failures = 0;
        if (forgets === forgetsBefore) onConfirmed(asked.head);
      } catch (error) {
        if (stop.signal.aborted) return;
        log.warn({ err: error, revision: asked.head.revision }, 'not all workers have applied a change; retrying');
        if (forgets === forgetsBefore) pending = merge(asked, pending);
        failures += 1;
        // Rejects only at a stop, and then the loop ends.
        const { signal } = stop;
        await delay(backoffDelayMs(RETRY, failures, Math.random()), undefined, { signal }).catch(() => undefined);
      }
    }
  }

  /** Waits for an answer or a stop: the answer may never arrive. */
  async function unlessStopped(answer: Promise<void>): Promise<void> {
    const { promise, reject } = Promise.withResolvers<never>();
    const onStop = () => reject(stop.signal.reason);
    stop.signal.addEventListener('abort', onStop, { once: true });
    try {
      await Promise.race([answer, promise]);
    } finally {
      stop.signal.removeEventListener('abort', onStop);
    }
  }
}

/** Returns the later one's head with the names of both. */
function merge(earlier: Pending | undefined, later: Pending | undefined): Pending | undefined {
  if (earlier === undefined || later === undefined) return later ?? earlier;
  if (earlier.names === undefined || later.names === undefined) return { head: later.head, names: undefined };
  const names = earlier.names.union(later.names);
  return { head: later.head, names: names.size > MAX_NAMES ? undefined : names };
}
