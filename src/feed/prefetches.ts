/**
 * Works off the prefetches of an edge: a few at a time, each once, by one worker of the machine; outcomes are kept in the
 * edge's file and told to control until it has taken them.
 */
import type { Logger } from '#lib/logger.ts';
import type { PrefetchOutcome, PrefetchRequest } from '#sites/prefetch.ts';
import type { EdgePrefetches, PrefetchEntry, PrefetchResultEntry } from './edge-prefetches.ts';
import { MAX_PREFETCH_RESULTS } from './protocol.ts';

/** At once, per machine: enough to fill a line, few enough for an origin that viewers need too. */
const CONCURRENCY = 4;

export interface PrefetchesOptions {
  readonly entries: EdgePrefetches;
  /** `undefined`: nobody can do it just now; it is asked again later. */
  readonly prefetch: (request: PrefetchRequest) => Promise<PrefetchOutcome | undefined>;
  /** Resolves when control has taken them. */
  readonly report: (results: readonly PrefetchResultEntry[]) => Promise<void>;
  readonly log: Logger;
}

export interface Prefetches extends AsyncDisposable {
  /** Goes on with what there is up to `revision`, which every worker runs: a purge that came before is in force. */
  advance(revision: number): void;
}

export function createPrefetches(options: PrefetchesOptions): Prefetches {
  return new RunningPrefetches(options);
}

class RunningPrefetches implements Prefetches {
  readonly #options: PrefetchesOptions;
  readonly #underWay = new Set<string>();
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
      // Such as a full disk; the next call tries on.
      this.#options.log.error({ err: error }, 'prefetches cannot be read');
    }
    this.#reportSoon();
  }

  #begin(): void {
    // Those under way have no outcome yet, so they are among what is found.
    const found = this.#options.entries.listPending(this.#revision, CONCURRENCY + this.#underWay.size);
    for (const entry of found) {
      if (this.#underWay.size >= CONCURRENCY) return;
      if (this.#underWay.has(entry.key)) continue;
      this.#underWay.add(entry.key);
      void this.#perform(entry); // never rejects
    }
  }

  /** What is under way is left to whoever does it; it has no outcome, so the next start does it again. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isStopped = true;
    await this.#reporting;
  }

  /** Never rejects. */
  async #perform({ key, spec }: PrefetchEntry): Promise<void> {
    const { prefetch, entries, log } = this.#options;
    const { host, target, scheme } = spec;
    const outcome = await prefetch({ host, target, scheme });
    this.#underWay.delete(key);
    if (this.#isStopped || outcome === undefined) return; // whoever calls `advance` next begins it anew
    if (outcome.kind === 'failed') log.info({ host, target, reason: outcome.reason }, 'a prefetch failed');
    try {
      entries.save(key, outcome);
    } catch (error) {
      log.error({ err: error, host, target }, 'the outcome of a prefetch cannot be kept; it is done again');
      return;
    }
    this.advance(this.#revision);
  }

  /** One report at a time; what is saved meanwhile is in the next. A report that fails is made up for by a later call. */
  #reportSoon(): void {
    this.#isReportDue = true;
    this.#reporting ??= this.#reportAll()
      .catch((error: unknown) => this.#options.log.debug({ err: error }, 'control does not take the prefetch report'))
      .finally(() => {
        this.#reporting = undefined;
        if (this.#isReportDue && !this.#isStopped) this.#reportSoon(); // asked for while this one ended
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
      this.#isReportDue = true; // there may be more than one report takes
    }
  }
}
