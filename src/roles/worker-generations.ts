/**
 * The edge workers: the generation that serves, and at most two earlier ones that end with their last connections. A
 * generation takes over only when all of it is ready, so that a restart costs no request. docs/decisions/0571
 */
import type { DrainLimits } from '#edge/ending.ts';
import type { Logger } from '#lib/logger.ts';
import type { StartMessage } from './messages.ts';
import { MAX_GENERATIONS } from './process-plan.ts';
import type { RoleProcess } from './role-process.ts';

export interface WorkerGenerationsOptions {
  /** Workers of the first generation. */
  readonly starts: readonly StartMessage[];
  create(start: StartMessage): RoleProcess;
  /** Called when processes have been started or have ended. */
  onChange(): void;
  /** Called when a draining worker has ended. */
  onGone(part: RoleProcess): void;
  readonly log: Logger;
}

export interface Replacement {
  /** Returns the workers of a generation; they count from 0. */
  plan(generation: number): readonly StartMessage[];
  readonly drain: DrainLimits;
  /** Whether to cut the oldest generation if there is no room for another. */
  readonly isForced: boolean;
}

export type Replaced =
  | { readonly kind: 'replaced' }
  /** The earlier generations leave no room for another, or another replacement is in progress. */
  | { readonly kind: 'busy'; readonly why: 'draining' | 'restarting' }
  /** The new workers could not be started; the present ones keep serving. */
  | { readonly kind: 'failed'; readonly problem: string };

interface OldGeneration {
  /** Workers that have not ended. */
  readonly parts: Set<RoleProcess>;
  readonly ended: Promise<unknown>;
}

/** Earlier generations that may drain while another starts. */
const MAX_OLD = MAX_GENERATIONS - 1;
const READY_LIMIT_MS = 60_000;

export class WorkerGenerations {
  readonly #options: WorkerGenerationsOptions;
  #number = 0;
  #present: readonly RoleProcess[];
  /** Workers that are being started to replace the present ones. */
  #next: readonly RoleProcess[] = [];
  /** Settles with the problem, or `undefined` when all of `#next` are ready. */
  #readiness = Promise.withResolvers<string | undefined>();
  /** The oldest first. */
  readonly #old: OldGeneration[] = [];
  #isReplacing = false;
  #hasStopped = false;

  constructor(options: WorkerGenerationsOptions) {
    this.#options = options;
    this.#present = options.starts.map(options.create);
  }

  /** The workers that serve new connections. */
  get present(): readonly RoleProcess[] {
    return this.#present;
  }

  /** All workers that run, those that drain first. */
  get all(): readonly RoleProcess[] {
    return [...this.draining, ...this.#present, ...this.#next];
  }

  get draining(): readonly RoleProcess[] {
    return this.#old.flatMap(({ parts }) => [...parts]);
  }

  noteReady(): void {
    if (this.#next.length > 0 && this.#next.every(({ isReady }) => isReady)) this.#readiness.resolve(undefined);
  }

  /** Notes that a worker cannot start or has died. Returns true if this concerns only a replacement in progress. */
  noteFailure(part: RoleProcess, problem: string): boolean {
    if (!this.#next.includes(part)) return false;
    this.#readiness.resolve(`${part.name}: ${problem}`);
    return true;
  }

  /** Starts new workers and, when all are ready, lets the present ones drain. One replacement at a time. */
  async replace(replacement: Replacement): Promise<Replaced> {
    if (this.#isReplacing) return { kind: 'busy', why: 'restarting' };
    this.#isReplacing = true;
    try {
      return await this.#replace(replacement);
    } finally {
      this.#isReplacing = false;
    }
  }

  /** Cancels a replacement: no further worker is started. */
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
    this.#next = plan(this.#number + 1).map(create);
    onChange();
    const limit = setTimeout(
      () => this.#readiness.resolve(`the new workers were not ready within ${READY_LIMIT_MS / 1000} s`),
      READY_LIMIT_MS,
    );
    const problem = await this.#readiness.promise;
    clearTimeout(limit);
    const next = this.#next;
    if (problem !== undefined) {
      log.error({ problem }, 'the new workers cannot start; the present ones keep serving');
      await Promise.all(next.map((part) => part.stop(0)));
      this.#next = [];
      for (const part of next) onGone(part);
      onChange();
      return { kind: 'failed', problem };
    }
    this.#next = [];
    this.#number += 1;
    this.#drain(this.#present, drain);
    this.#present = next;
    log.info(
      { workers: next.map(({ name }) => name) },
      'new workers have taken over; the others finish their connections',
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
    const generation: OldGeneration = { parts, ended: Promise.all(present.map(end)) };
    this.#old.push(generation);
    void generation.ended.then(() => this.#old.splice(this.#old.indexOf(generation), 1)); // never rejects
  }
}
