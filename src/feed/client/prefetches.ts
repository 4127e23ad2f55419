/**
 * Executes the prefetches of an edge: a few at a time, each once, by one worker of the machine. Outcomes are kept in
 * the edge's file and reported until control has accepted them. Accounts take turns: docs/decisions/0462
 */
import type { Logger } from '#lib/logger.ts';
import { Lru } from '#lib/lru.ts';
import { createShares } from '#lib/shares.ts';
import { type PrefetchOutcome, type PrefetchRequest, prefetcherOf } from '#sites/prefetch.ts';
import type { EdgePrefetches, PrefetchEntry, PrefetchResultEntry } from '../store/edge-prefetches.ts';
import { MAX_PREFETCH_RESULTS } from '../wire/protocol.ts';

/** Prefetches in flight per machine. */
const MAX_UNDER_WAY = 16;
/**
 * Prefetches in flight of one account: enough to use its bandwidth, few enough for an origin that viewers need, too.
 */
const MAX_PER_ACCOUNT = 4;
/** Limit of accounts whose last turn is remembered. */
const MAX_ACCOUNTS = 10_000;

export interface PrefetchesOptions {
  readonly entries: EdgePrefetches;
  /** Resolves with `undefined` if no worker can do it for now; it is retried later. */
  readonly prefetch: (request: PrefetchRequest) => Promise<PrefetchOutcome | undefined>;
  /** Resolves when control has accepted the results. */
  readonly report: (results: readonly PrefetchResultEntry[]) => Promise<void>;
  readonly log: Logger;
}

export interface Prefetches extends AsyncDisposable {
  /** Continues with prefetches up to `revision`, which every worker runs, so that earlier purges are in force. */
  advance(revision: number): void;
}

export function createPrefetches(options: PrefetchesOptions): Prefetches {
  return new RunningPrefetches(options);
}

class RunningPrefetches implements Prefetches {
  readonly #options: PrefetchesOptions;
  readonly #underWay = new Set<string>();
  readonly #shares = createShares(MAX_UNDER_WAY);
  /** Number of each account's last turn. */
  readonly #turns = new Lru<string, number>({ maxWeight: MAX_ACCOUNTS });
  #lastTurn = 0;
  #revision = 0;
  #isStopped = false;
  #isReportDue = false;
  #reporting: Promise<void> | undefined;

  constructor(options: PrefetchesOptions) {
    this.#options = options;
  }

  advance(revision: number): void {
    if (this.#isStopped) return;
    this.#revision = revision;
    try {
      this.#begin();
    } catch (error) {
      // Such as a full disk; the next call tries again.
      this.#options.log.error({ err: error }, 'cannot read pending prefetches; retrying later');
    }
    this.#reportSoon();
  }

  #begin(): void {
    if (this.#shares.free === 0) return;
    // Prefetches in flight have no outcome yet, so the list includes them.
    let found = this.#options.entries.listPending(this.#revision, MAX_PER_ACCOUNT);
    for (;;) {
      found = found.filter(({ key, spec }) => !this.#underWay.has(key) && this.#mayBegin(prefetcherOf(spec)));
      const entry = this.#nextInTurn(found);
      if (entry === undefined) return;
      const account = prefetcherOf(entry.spec);
      this.#turns.set(account, ++this.#lastTurn);
      this.#underWay.add(entry.key);
      this.#shares.add(account, 1);
      void this.#perform(entry, account); // never rejects
    }
  }

  #mayBegin(account: string): boolean {
    return this.#shares.heldBy(account) < MAX_PER_ACCOUNT && this.#shares.mayTake(account, 1);
  }

  /** Returns the next prefetch of the account whose last turn is longest ago. */
  #nextInTurn(found: readonly PrefetchEntry[]): PrefetchEntry | undefined {
    const turnOf = ({ spec }: PrefetchEntry) => this.#turns.get(prefetcherOf(spec)) ?? 0;
    let next: PrefetchEntry | undefined;
    for (const entry of found) if (next === undefined || turnOf(entry) < turnOf(next)) next = entry;
    return next;
  }

  /** Prefetches in flight are left to their workers; without an outcome, the next start repeats them. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#reporting;
  }

  /** Never rejects. */
  async #perform({ key, spec }: PrefetchEntry, account: string): Promise<void> {
    const { prefetch, entries, log } = this.#options;
    const { host, target, scheme } = spec;
    const outcome = await prefetch({ host, target, scheme });
    this.#underWay.delete(key);
    this.#shares.add(account, -1);
    if (this.#isStopped || outcome === undefined) return; // the next `advance` begins it again
    if (outcome.kind === 'failed') log.info({ host, target, reason: outcome.reason }, 'prefetch failed');
    try {
      entries.save(key, outcome);
    } catch (error) {
      log.error({ err: error, host, target }, 'cannot store the outcome of a prefetch; it will be repeated');
      return;
    }
    this.advance(this.#revision);
  }

  /**
   * Sends a report. Reports do not overlap; later outcomes are in the next. A later call makes up for a failed report.
   */
  #reportSoon(): void {
    this.#isReportDue = true;
    this.#reporting ??= this.#reportAll()
      .catch((error: unknown) => this.#options.log.debug({ err: error }, 'cannot send the prefetch report to control'))
      .finally(() => {
        this.#reporting = undefined;
        if (this.#isReportDue && !this.#isStopped) this.#reportSoon(); // requested meanwhile
      });
  }

  async #reportAll(): Promise<void> {
    const { entries, report } = this.#options;
    while (this.#isReportDue && !this.#isStopped) {
      this.#isReportDue = false;
      const results = entries.listUnreported(MAX_PREFETCH_RESULTS);
      if (results.length === 0) continue;
      await report(results);
      if (this.#isStopped) return;
      entries.markReported(results.map(({ key }) => key));
      this.#isReportDue = true; // there may be more than fits into one report
    }
  }
}
