/**
 * The edge workers and the live process: the generation that serves, and at most two earlier ones that end with their
 * last connections. A generation takes over only when all of it is ready, so that a restart costs no request.
 * docs/decisions/0571, 0608
 */
import type { DrainLimits } from '#edge/ending.ts';
import type { Logger } from '#lib/logger.ts';
import type { StartMessage } from '../process/messages.ts';
import { MAX_GENERATIONS, nextGeneration, type Succession } from '../process/process-plan.ts';
import type { RoleProcess } from './role-process.ts';

export interface ProcessGenerationsOptions {
  /** Processes of the first generation. */
  readonly starts: readonly StartMessage[];
  create(start: StartMessage): RoleProcess;
  /** Called when processes have been started or have ended. */
  onChange(): void;
  /** Called when a process that was to end has ended. */
  onGone(part: RoleProcess): void;
  readonly log: Logger;
}

export interface Replacement {
  /** Returns the processes of a generation. */
  plan(succession: Succession): readonly StartMessage[];
  readonly drain: DrainLimits;
  /** Whether to cut the oldest generation if there is no room for another. */
  readonly isForced: boolean;
}

export type Replaced =
  | { readonly kind: 'replaced' }
  /** The earlier generations leave no room for another, or another replacement is in progress. */
  | { readonly kind: 'busy'; readonly why: 'draining' | 'restarting' }
  /** The new processes could not be started; the others go on. */
  | { readonly kind: 'failed'; readonly problem: string };

interface OldGeneration {
  readonly number: number;
  /** Processes that have not ended. */
  readonly parts: Set<RoleProcess>;
  readonly ended: Promise<unknown>;
}

/** Earlier generations that may drain while another starts. */
const MAX_OLD = MAX_GENERATIONS - 1;
const READY_LIMIT_MS = 60_000;

export class ProcessGenerations {
  readonly #options: ProcessGenerationsOptions;
  #number = 0;
  #present: readonly RoleProcess[];
  /** Processes that are being started in place of the present ones. */
  #next: readonly RoleProcess[] = [];
  /** Settles with the problem, or `undefined` when all of `#next` are ready. */
  #readiness = Promise.withResolvers<string | undefined>();
  /** The oldest first. */
  readonly #old: OldGeneration[] = [];
  #isReplacing = false;
  #hasStopped = false;

  constructor(options: ProcessGenerationsOptions) {
    this.#options = options;
    this.#present = options.starts.map(options.create);
  }

  /** The processes that serve new connections. */
  get present(): readonly RoleProcess[] {
    return this.#present;
  }

  /** All processes that run, those that drain first. */
  get all(): readonly RoleProcess[] {
    return [...this.draining, ...this.#present, ...this.#next];
  }

  get draining(): readonly RoleProcess[] {
    return this.#old.flatMap(({ parts }) => [...parts]);
  }

  noteReady(): void {
    if (this.#next.length > 0 && this.#next.every(({ isReady }) => isReady)) this.#readiness.resolve(undefined);
  }

  /** Notes that a process cannot start, or has died. Returns whether that is the matter of a replacement only. */
  noteFailure(part: RoleProcess, problem: string): boolean {
    const isNext = this.#next.includes(part);
    // The next live process follows the one that has died, and not the one that is started instead.
    if (isNext || part.start.part === 'live') this.#readiness.resolve(`${part.name}: ${problem}`);
    return isNext;
  }

  /** Starts a new generation and, when all of it is ready, lets the present one drain. One replacement at a time. */
  async replace(replacement: Replacement): Promise<Replaced> {
    if (this.#isReplacing) return { kind: 'busy', why: 'restarting' };
    this.#isReplacing = true;
    try {
      return await this.#replace(replacement);
    } finally {
      this.#isReplacing = false;
    }
  }

  /** Cuts a replacement short: no further process is started. */
  stop(): void {
    this.#hasStopped = true;
    this.#readiness.resolve('the service stops');
  }

  async #replace({ plan, drain, isForced }: Replacement): Promise<Replaced> {
    const { create, onChange, onGone, log } = this.#options;
    const oldest = this.#old.length < MAX_OLD ? undefined : this.#old[0];
    if (oldest !== undefined && !isForced) return { kind: 'busy', why: 'draining' };
    if (oldest !== undefined) await Promise.all([...oldest.parts].map((part) => part.stop(0)));
    await oldest?.ended;
    if (this.#hasStopped) return { kind: 'failed', problem: 'the service stops' };
    this.#readiness = Promise.withResolvers();
    const present = this.#number;
    const draining = this.#old.map(({ number }) => number);
    const generation = nextGeneration(present, draining);
    this.#next = plan({ generation, present, draining }).map(create);
    onChange();
    const limit = setTimeout(
      () => this.#readiness.resolve(`the new processes were not ready within ${READY_LIMIT_MS / 1000} s`),
      READY_LIMIT_MS,
    );
    const problem = await this.#readiness.promise;
    clearTimeout(limit);
    const next = this.#next;
    if (problem !== undefined) {
      log.error({ problem }, 'the new processes cannot start; the present ones go on');
      await Promise.all(next.map((part) => part.stop(0)));
      this.#next = [];
      for (const part of next) onGone(part);
      onChange();
      return { kind: 'failed', problem };
    }
    this.#next = [];
    this.#drain(this.#present, drain);
    this.#present = next;
    this.#number = generation;
    log.info(
      { parts: next.map(({ name }) => name) },
      'new processes have taken over; the earlier ones finish their connections',
    );
    return { kind: 'replaced' };
  }

  #drain(present: readonly RoleProcess[], limits: DrainLimits): void {
    const { onChange, onGone, log } = this.#options;
    const parts = new Set(present);
    const end = async (part: RoleProcess) => {
      const how = await part.drain(limits);
      if (how === undefined) log.info({ part: part.name }, 'drained');
      else log.error({ part: part.name, how }, 'died while draining');
      parts.delete(part);
      onGone(part);
      onChange();
    };
    const generation: OldGeneration = { number: this.#number, parts, ended: Promise.all(present.map(end)) };
    this.#old.push(generation);
    void generation.ended.then(() => this.#old.splice(this.#old.indexOf(generation), 1)); // never rejects
  }
}
