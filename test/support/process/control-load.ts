/** Load on controls that share a database: changes, purges and messages, each noted when it is acknowledged. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '#client/transport.ts';

export const LOAD_KINDS = ['change', 'purge', 'message'] as const;
export type LoadKind = (typeof LOAD_KINDS)[number];

interface Acknowledged {
  readonly kind: LoadKind;
  /** Name of the domain, URL or number in E.164: each is used once. */
  readonly what: string;
  /** Instant of the answer, by `performance.now`. */
  readonly at: number;
}

interface LoadOptions {
  readonly client: Client;
  readonly appKey: string;
  /** Domain whose URLs are purged. */
  readonly host: string;
  /** Callers at once, of each kind. */
  readonly callers?: number;
}

/** Pause of a caller after a call, so that the controls have time for other work. */
const PAUSE_MS = 30;

export class ControlLoad {
  readonly acknowledged: Acknowledged[] = [];
  /** Calls that were refused, or had no answer; they are not repeated. `at`: the instant of their end. */
  readonly failed: { readonly kind: LoadKind; readonly at: number; readonly tookMs: number }[] = [];
  readonly #options: LoadOptions;
  #running: readonly Promise<void>[] = [];
  #isStopped = true;
  #n = 0;

  constructor(options: LoadOptions) {
    this.#options = options;
  }

  start(): void {
    const { callers = 2 } = this.#options;
    this.#isStopped = false;
    this.#running = LOAD_KINDS.flatMap((kind) => Array.from({ length: callers }, () => this.#run(kind)));
  }

  /** Resolves when all calls have ended. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    await Promise.all(this.#running);
  }

  count(kind: LoadKind): number {
    return this.acknowledged.filter((one) => one.kind === kind).length;
  }

  async #run(kind: LoadKind): Promise<void> {
    while (!this.#isStopped) {
      this.#n += 1;
      const from = performance.now();
      try {
        const what = await this.#call(kind, this.#n);
        this.acknowledged.push({ kind, what, at: performance.now() });
      } catch {
        const at = performance.now();
        this.failed.push({ kind, at, tookMs: at - from });
      }
      await delay(PAUSE_MS);
    }
  }

  async #call(kind: LoadKind, n: number): Promise<string> {
    const { client, appKey, host } = this.#options;
    switch (kind) {
      case 'change': {
        const domain = `d${n}.example.com`;
        await client.call('domain.add', { domain, cdn_type: '1', data: '192.0.2.1' });
        return domain;
      }
      case 'purge': {
        const url = `http://${host}/p${n}`;
        await client.call('cache.purge', { urls: [url] });
        return url;
      }
      case 'message': {
        const mobile = `138${String(n).padStart(8, '0')}`;
        await client.call('sms.ordinary', {
          app_key: appKey,
          mobile,
          content: `load ${n}`,
          time: String(Date.now()),
        });
        return `+86${mobile}`;
      }
    }
  }
}

interface LoadGap {
  /** Longest time without an acknowledged call. */
  readonly gapMs: number;
  /** Time from the first to the last failed call. */
  readonly failingMs: number;
  readonly failed: number;
  /** Longest time that a call took which failed. */
  readonly longestMs: number;
}

/** Returns the interruption that callers of a kind noticed between two instants. */
export function gapOf({ acknowledged, failed }: ControlLoad, kind: LoadKind, from: number, until: number): LoadGap {
  const instants = acknowledged.filter((one) => one.kind === kind).map(({ at }) => at);
  const gaps = instants.slice(1).map((at, n) => {
    const before = instants[n] ?? at;
    return at >= from && before <= until ? at - before : 0;
  });
  const own = failed.filter((one) => one.kind === kind && one.at >= from && one.at <= until);
  return {
    gapMs: Math.round(Math.max(0, ...gaps)),
    failingMs: Math.round((own.at(-1)?.at ?? 0) - (own[0]?.at ?? 0)),
    failed: own.length,
    longestMs: Math.round(Math.max(0, ...own.map(({ tookMs }) => tookMs))),
  };
}
