/**
 * The health of this machine's edge: runs its own checks, derives its state, and describes both for the report to
 * control and for the health page of the workers. docs/decisions/0599
 */

import { cpus } from 'node:os';
import { setImmediate } from 'node:timers/promises';
import type { Logger } from '#lib/logger.ts';
import { type Rounds, startRounds } from '#lib/rounds.ts';
import type { EdgeVitals } from '#model/edge.ts';
import {
  type CheckHistory,
  type CheckResult,
  CLOCK_WARNING_MS,
  clockProblem,
  FULL_SHARE,
  firstCheck,
  HEALTH_CHECKS,
  type HealthCheck,
  MAX_CHECK_DETAIL_CHARS,
  nextCheck,
  type OwnCondition,
  ownCondition,
} from '#model/edge-health.ts';
import { VitalsBook, type WorkerVitals } from '../process/worker-vitals.ts';
import { type Check, percent } from './own-checks.ts';

/** Interval of the checks. */
const CHECK_MS = 2000;
/** Checks that write to a disk run once in so many rounds. */
const ROUNDS_OF_DISK = 5;
const DISK_CHECKS: ReadonlySet<HealthCheck> = new Set(['disk', 'space']);
/** Features of this release, for control. */
const FEATURES = ['drain'];

export interface EdgeHealthOptions {
  /** `host:port` at which other edges reach this one; absent: it does not listen for them. */
  readonly tierAddress?: string | undefined;
  readonly workers: number;
  readonly checks: ReadonlyMap<HealthCheck, Check>;
  /** Whether every worker runs a set of settings. */
  readonly hasSettings: () => boolean;
  readonly isOrderedToDrain: () => boolean;
  readonly drainsItself: () => boolean;
  /** Share of the cache's file system in use; `undefined` if it is not known. */
  readonly cacheDisk: () => Promise<number | undefined>;
  /** Called once at first, and whenever the condition changes. */
  readonly onCondition: (condition: OwnCondition) => void;
  /** Clock that only goes forward. */
  readonly monotonic: () => number;
  readonly log: Logger;
}

export interface EdgeHealth extends AsyncDisposable {
  noteWorker(vitals: WorkerVitals): void;
  /** `offsetMs`: how far this machine's clock is ahead of control's. */
  noteClock(offsetMs: number): void;
  /** Must be called when settings or orders may have changed, so that the condition is not a round late. */
  look(): void;
  /** Describes the edge for its report. */
  describe(): EdgeVitals;
}

export function startEdgeHealth(options: EdgeHealthOptions): EdgeHealth {
  return new RunningEdgeHealth(options);
}

class RunningEdgeHealth implements EdgeHealth {
  readonly #options: EdgeHealthOptions;
  readonly #book: VitalsBook;
  readonly #histories = new Map<HealthCheck, CheckHistory>();
  readonly #rounds: Rounds;
  #condition: OwnCondition | undefined;
  #clockOffsetMs: number | undefined;
  #hasWarnedOfClock = false;
  #cacheDisk = 0;
  #cpu = cpuTimes();
  #cpuShare = 0;
  #round = 0;

  constructor(options: EdgeHealthOptions) {
    this.#options = options;
    this.#book = new VitalsBook(options.workers, options.monotonic());
    this.#rounds = startRounds({
      everyMs: CHECK_MS,
      work: (signal) => this.#check(signal),
      onFailure: (error) => options.log.error({ err: error }, 'cannot check this edge'),
    });
  }

  [Symbol.asyncDispose](): PromiseLike<void> {
    return this.#rounds[Symbol.asyncDispose]();
  }

  noteWorker(vitals: WorkerVitals): void {
    const now = this.#options.monotonic();
    this.#book.note(vitals, now);
    if (this.#results() === undefined && this.#book.isComplete(now)) this.#rounds.start(); // ready soon after a start
  }

  noteClock(offsetMs: number): void {
    this.#clockOffsetMs = offsetMs;
    const isOff = Math.abs(offsetMs) > CLOCK_WARNING_MS;
    if (isOff && !this.#hasWarnedOfClock)
      this.#options.log.warn({ offsetMs }, "this machine's clock differs from control's; check its time service");
    this.#hasWarnedOfClock = isOff;
  }

  look(): void {
    const { hasSettings, isOrderedToDrain, drainsItself, onCondition } = this.#options;
    const condition = ownCondition({
      hasSettings: hasSettings(),
      isOrderedToDrain: isOrderedToDrain(),
      drainsItself: drainsItself(),
      checks: this.#results(),
    });
    const before = this.#condition;
    if (before?.state === condition.state && before.word === condition.word) return;
    this.#condition = condition;
    onCondition(condition);
  }

  describe(): EdgeVitals {
    const { tierAddress } = this.#options;
    const { requestsPerSecond, sentBytesPerSecond, underWay } = this.#book.rates(this.#options.monotonic());
    return {
      state: this.#condition?.state ?? 'syncing',
      features: FEATURES,
      ...(this.#clockOffsetMs !== undefined && { clockOffsetMs: this.#clockOffsetMs }),
      load: {
        cpu: round(this.#cpuShare),
        mbit: round((sentBytesPerSecond * 8) / 1e6),
        requests: round(requestsPerSecond),
        underWay,
        cacheDisk: round(this.#cacheDisk),
      },
      health: this.#results() ?? [],
      ...(tierAddress !== undefined && { tierAddress }),
    };
  }

  async #check(signal: AbortSignal): Promise<void> {
    const { checks, cacheDisk, monotonic } = this.#options;
    this.#measureCpu();
    // Checks of the listeners would fail until the workers listen.
    if (!this.#book.isComplete(monotonic())) return this.look();
    const isDiskTurn = this.#round++ % ROUNDS_OF_DISK === 0;
    const due = [...checks].filter(([check]) => isDiskTurn || !DISK_CHECKS.has(check));
    const found = await Promise.all(due.map(async ([check, run]) => [check, await run()] as const));
    await setImmediate(); // an order to stop may wait to be read: then the workers have closed their listeners
    if (signal.aborted) return;
    for (const [check, problem] of found) this.#note(check, problem);
    const now = monotonic();
    const descriptors = this.#book.descriptors(now);
    this.#note('descriptors', descriptors >= FULL_SHARE ? `${percent(descriptors)} are in use` : undefined);
    this.#note('clock', clockProblem(this.#clockOffsetMs));
    this.#note('workers', this.#book.problem(now));
    if (isDiskTurn) this.#cacheDisk = (await cacheDisk()) ?? this.#cacheDisk;
    this.look();
  }

  #measureCpu(): void {
    const before = this.#cpu;
    this.#cpu = cpuTimes();
    const totalMs = this.#cpu.totalMs - before.totalMs;
    if (totalMs > 0) this.#cpuShare = (this.#cpu.busyMs - before.busyMs) / totalMs;
  }

  #note(check: HealthCheck, problem: string | undefined): void {
    const before = this.#histories.get(check);
    const history = before === undefined ? firstCheck(problem) : nextCheck(before, problem);
    this.#histories.set(check, history);
    const { log } = this.#options;
    if (history.isFailed && before?.isFailed !== true)
      log.error({ check, problem }, 'a check of this edge has failed; its health page asks for no more viewers');
    if (before?.isFailed === true && !history.isFailed) log.info({ check }, 'a check of this edge passes again');
  }

  /** `undefined` before the first round. */
  #results(): readonly CheckResult[] | undefined {
    if (!this.#histories.has('workers')) return undefined;
    return HEALTH_CHECKS.flatMap((check) => {
      const history = this.#histories.get(check);
      if (history === undefined) return [];
      const detail = history.detail?.slice(0, MAX_CHECK_DETAIL_CHARS);
      return [{ check, ok: !history.isFailed, ...(history.isFailed && detail !== undefined && { detail }) }];
    });
  }
}

/** Processor time of the machine since its start. */
function cpuTimes(): { readonly busyMs: number; readonly totalMs: number } {
  let [busyMs, totalMs] = [0, 0];
  for (const { times } of cpus()) {
    const sum = times.user + times.nice + times.sys + times.irq + times.idle;
    busyMs += sum - times.idle;
    totalMs += sum;
  }
  return { busyMs, totalMs };
}

function round(value: number): number {
  return Math.round(value * 100) / 100;
}
