/**
 * Reports events and the broadcasts on air to control: every 5 s, at once after an event, and again after a failure.
 */
import { type LiveReport, type LiveReportAnswer, MAX_LIVE_STATUSES } from '#feed/wire/live-report.ts';
import { backoffDelayMs } from '#lib/backoff.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { streamKey } from '#sites/live.ts';
import type { LiveFile } from './live-file.ts';

type LiveStatuses = NonNullable<LiveReport['streams']>;

export interface ReporterOptions {
  readonly edge: string;
  readonly file: Pick<LiveFile, 'epoch' | 'listEvents' | 'acknowledge'>;
  /** Lists the broadcasts on air. */
  statuses(): LiveStatuses;
  /**
   * Lists those that the predecessor has on air; `undefined` if another process of this machine reports what is on air.
   */
  inherited(): Promise<LiveStatuses | undefined>;
  post(report: LiveReport, signal: AbortSignal): Promise<LiveReportAnswer>;
  /** Notified of broadcasts whose stream another live process has on air. */
  onNotOwned(broadcasts: readonly string[]): void;
  readonly everyMs: number;
  readonly maxEvents: number;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly random: () => number;
  readonly log: Logger;
}

export interface Reporter extends AsyncDisposable {
  /** Reports at once, because of an event. */
  hurry(): void;
}

/** Short, because control is on the same machine and is soon back. */
const BACKOFF = { firstMs: 500, capMs: 5_000 };
/** Time without a warning, as while control starts. */
const QUIET_MS = 15_000;

export function startReporter(options: ReporterOptions): Reporter {
  const { everyMs, timers, log } = options;
  const stop = new AbortController();
  let failures = 0;
  let takenAt = timers.now();
  let isWarned = false;
  let isHurried = false;
  let running: Promise<void> | undefined;
  let cancel = () => {};
  const schedule = (delayMs: number) => {
    cancel();
    if (!stop.signal.aborted) cancel = timers.after(delayMs, run);
  };
  const run = () => {
    cancel();
    isHurried = false;
    running = report(options, stop.signal)
      .then(
        (isWhole) => {
          if (isWarned) log.info({ failures }, 'control accepts reports of live streams again');
          isWarned = false;
          failures = 0;
          takenAt = timers.now();
          return isHurried || !isWhole ? 0 : everyMs;
        },
        (error: unknown) => {
          failures++;
          if (!isWarned && !stop.signal.aborted && timers.now() - takenAt > QUIET_MS) {
            isWarned = true;
            log.warn({ err: error, failures }, 'cannot report live streams to control; retrying');
          }
          return backoffDelayMs(BACKOFF, failures, options.random());
        },
      )
      .then((delayMs) => {
        running = undefined;
        schedule(delayMs);
      });
  };
  schedule(0);
  return {
    hurry() {
      // After a failure, the next try includes it.
      if (running !== undefined) isHurried = true;
      else if (failures === 0) schedule(0);
    },
    async [Symbol.asyncDispose]() {
      stop.abort();
      cancel();
      await running;
      cancel();
    },
  };
}

/** Sends a report. Resolves with whether it had all waiting events. */
async function report(options: ReporterOptions, signal: AbortSignal): Promise<boolean> {
  const { edge, file, maxEvents, clock } = options;
  const inherited = await options.inherited();
  // Events and statuses are of the same moment.
  const events = file.listEvents(maxEvents);
  const streams = inherited && joinStatuses(options.statuses(), inherited);
  const { epoch } = file;
  const answer = await options.post({ edge, epoch, at: clock(), events, ...(streams && { streams }) }, signal);
  const last = events.at(-1)?.n ?? 0;
  // Events that were not sent are not acknowledged, even if the answer claims them.
  file.acknowledge(epoch, Math.min(answer.taken, last));
  if (answer.notOwned.length > 0) options.onNotOwned(answer.notOwned);
  return events.length < maxEvents;
}

/** Joins what is on air here and at the predecessor. A stream that both have is this process's. */
export function joinStatuses(own: LiveStatuses, inherited: LiveStatuses): LiveStatuses {
  const names = new Set(own.map(streamKey));
  return [...own, ...inherited.filter((status) => !names.has(streamKey(status)))].slice(0, MAX_LIVE_STATUSES);
}
