/**
 * Reports an edge's traffic to control: sums regularly, log files when they end. One at a time, with retries until
 * control has accepted it; while control is unreachable, everything waits on disk.
 */
import { mkdir } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { backoffDelayMs } from '#lib/backoff.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { formatPart, type LogPart } from '../report.ts';
import { collect } from './collect.ts';
import type { Outbox } from './outbox.ts';
import type { PlaceParts } from './place-parts.ts';
import { shipLog } from './ship.ts';

/** Resolves when control has stored the message, or with `refused` if it never will; rejects if a retry may help. */
export type Post<Body> = (body: Body, signal: AbortSignal) => Promise<'taken' | 'refused'>;

export interface ShipperOptions {
  /** Directory of the spools. Created if missing. */
  readonly directory: string;
  /** Spools that have a worker at the start. */
  readonly writers: readonly string[];
  /** Opens the outbox when it is first needed; retried if it throws. */
  readonly openOutbox: () => Outbox;
  readonly edge: string;
  /** Returns the interval of reports of sums. */
  readonly reportMs: () => number;
  /** Offset of reports from the full interval of the clock; 0 by default. */
  readonly reportOffsetMs?: number;
  readonly postPart: Post<Buffer>;
  /** Stores parts elsewhere before the rest is posted; absent: all are posted. */
  readonly placeParts?: PlaceParts;
  readonly postReport: Post<string>;
  /** Called before a shipped file is deleted. */
  readonly beforeDeletion?: (stem: string) => Promise<void>;
  readonly clock: Clock;
  /** Monotonic clock for waits. */
  readonly steadyClock: Clock;
  readonly log: Logger;
}

export interface Shipper extends AsyncDisposable {
  /** Absent while it cannot be opened. */
  readonly outbox: Outbox | undefined;
  /** Ended log files that control has not accepted yet. */
  readonly waitingFiles: number;
  readonly shippedFiles: number;
  /** Parts of log files and reports that control refused for good. */
  readonly refused: number;
  /** Incomplete lines at the ends of files of killed processes. */
  readonly brokenLines: number;
  /** Takes the spools that have a worker from now on. */
  useWriters(writers: readonly string[]): void;
}

const ROUND_MS = 1_000;
const RETRY = { firstMs: 1_000, capMs: 60_000 };

export function startShipper(options: ShipperOptions): Shipper {
  return new LogShipper(options);
}

class LogShipper implements Shipper {
  readonly #options: ShipperOptions;
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;
  waitingFiles = 0;
  shippedFiles = 0;
  refused = 0;
  outbox: Outbox | undefined;
  brokenLines = 0;
  /** Ended files that the outbox has counted: while control is away there may be thousands. */
  readonly #counted = new Set<string>();
  #writers: readonly string[];
  #failures = 0;
  #retryAt = Number.NEGATIVE_INFINITY;
  #isCollecting = true;
  /** Last period in which sums were reported. */
  #period = Number.NaN;

  constructor(options: ShipperOptions) {
    this.#options = options;
    this.#writers = options.writers;
    this.#running = this.#run();
  }

  useWriters(writers: readonly string[]): void {
    this.#writers = writers;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await this.#running;
    this.#closeOutbox();
  }

  async #run(): Promise<void> {
    const { signal } = this.#stopping;
    while (!signal.aborted) {
      const stems = await this.#collect();
      await this.#send(stems);
      await delay(ROUND_MS, undefined, { signal }).catch(() => undefined);
    }
  }

  /** Returns the stems of files to ship. */
  async #collect(): Promise<readonly string[]> {
    const { directory, openOutbox, reportMs, reportOffsetMs = 0, clock, log } = this.#options;
    try {
      await mkdir(directory, { recursive: true, mode: 0o700 });
      this.outbox ??= openOutbox();
      const { outbox } = this;
      const stems = await collect(directory, outbox, this.#writers, this.#counted);
      const period = Math.floor((clock() - reportOffsetMs) / reportMs());
      if (period !== this.#period) outbox.makeReports();
      this.#period = period;
      this.waitingFiles = stems.length;
      this.#isCollecting = true;
      return stems;
    } catch (error) {
      if (this.#isCollecting) log.error({ err: error }, 'cannot count traffic; retrying');
      this.#isCollecting = false;
      this.#closeOutbox(); // if it is damaged, opening it again repairs it
      return [];
    }
  }

  async #send(stems: readonly string[]): Promise<void> {
    const { steadyClock, log } = this.#options;
    if (steadyClock() < this.#retryAt) return;
    try {
      await this.#sendReports();
      for (const stem of stems) await this.#ship(stem);
      if (this.#failures > 0) log.info('control accepts traffic reports again');
      this.#failures = 0;
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      if (this.#failures === 0)
        log.warn(
          { err: error },
          'cannot send traffic reports and log files to control; keeping them on disk and retrying',
        );
      this.#failures++;
      this.#retryAt = steadyClock() + backoffDelayMs(RETRY, this.#failures, Math.random());
    }
  }

  #closeOutbox(): void {
    this.outbox?.[Symbol.dispose]();
    this.outbox = undefined;
    this.#counted.clear();
  }

  async #sendReports(): Promise<void> {
    const { postReport, log } = this.#options;
    const { outbox } = this;
    for (let report = outbox?.nextReport(); report !== undefined; report = outbox?.nextReport()) {
      const outcome = await postReport(report.body, this.#stopping.signal);
      if (outcome === 'refused') {
        this.refused++;
        log.error({ sequence: report.sequence }, 'control rejected a traffic report; it is lost');
      }
      outbox?.dropReport(report.sequence);
    }
  }

  async #ship(stem: string): Promise<void> {
    const { directory, edge, postPart, log, placeParts = async (parts) => parts } = this.#options;
    const { beforeDeletion = async () => undefined } = this.#options;
    const { signal } = this.#stopping;
    signal.throwIfAborted();
    const send = async (parts: readonly LogPart[]) => {
      for (const part of await placeParts(parts, signal)) {
        if ((await postPart(formatPart(part), signal)) === 'taken') continue;
        this.refused++;
        log.error({ file: stem }, 'control rejected a log part; it is lost');
      }
    };
    const shipped = await shipLog(directory, stem, edge, { send, beforeDeletion });
    this.waitingFiles--;
    this.shippedFiles++;
    this.brokenLines += shipped.brokenLines;
    if (shipped.brokenLines > 0)
      log.warn({ file: stem, lines: shipped.brokenLines }, 'log file contains invalid lines; they are lost');
  }
}
