/** One part of the service as seen by the supervisor: a child process that is kept running, and its messages. */
import { fork } from 'node:child_process';
import { environmentWith } from '#config';
import type { DrainLimits } from '#edge/ending.ts';
import type { LogSink } from '#lib/log-sink.ts';
import type { Logger } from '#lib/logger.ts';
import { type Death, SupervisedProcess } from '#lib/supervise.ts';
import { unreachable } from '#lib/unreachable.ts';
import { type FromChild, onMessage, type ReadyNews, type StartMessage, type ToChild } from '../process/messages.ts';
import type { ListenerName, SocketSet } from '../sockets/listeners.ts';
import { forwardLines } from './forward-lines.ts';

export type RelayedMessage = Extract<
  FromChild,
  {
    kind:
      | 'changed'
      | 'inForce'
      | 'prefetch'
      | 'prefetched'
      | 'originUses'
      | 'originProbes'
      | 'ticketSecrets'
      | 'clientRates'
      | 'vitals'
      | 'health'
      | 'tails'
      | 'tailed';
  }
>;

interface PartEvents {
  onReady(part: RoleProcess, news: ReadyNews): void;
  /** The part reports that it cannot start; its exit follows. */
  onFailed(part: RoleProcess, problem: string): void;
  onDeath(part: RoleProcess, death: Death): void;
  /** A message for another part: from the feed to workers, from a worker to the feed, or to the other workers. */
  onRelayed(part: RoleProcess, message: RelayedMessage): void;
}

export interface RoleProcessOptions extends PartEvents {
  readonly start: StartMessage;
  /** Returns the sockets that the process listens on. */
  sockets(): SocketSet;
  /** The program that every part is started from. */
  readonly entry: string;
  readonly log: Logger;
  /** Sink for the lines that the part writes. */
  readonly sink: LogSink;
}

const BACKOFF = { firstMs: 100, capMs: 10_000 };
const SETTLED_AFTER_MS = 30_000;
const METRICS_LIMIT_MS = 1000;
/**
 * The engine and the allocator would otherwise take 150 MB more beside the cache before they return any, and the engine's
 * own threads would stop the worker, whose core they share. docs/decisions/0074, 0315, 0370, 0514
 */
const WORKER_FLAGS = ['--max-semi-space-size=8', '--heap-growing-percent=100', '--v8-pool-size=1', '--expose-gc'];
/** Flags with which no signal opens a debugger, from the first instruction on. */
const PART_FLAGS = ['--disable-sigusr1'];
const WORKER_ENVIRONMENT = { MALLOC_ARENA_MAX: '1' };
/** Time that a part gets beyond that for its requests before it is killed. */
const STOP_MARGIN_MS = 2000;
/** The same for a worker whose time to drain is over. */
const DRAIN_MARGIN_MS = 10_000;
/** Descriptor of the first socket of a child process: standard streams and the channel come before. */
const FIRST_SOCKET = 4;

export class RoleProcess {
  readonly name: string;
  readonly #options: RoleProcessOptions;
  readonly #process: SupervisedProcess;
  readonly #metricsWaiters = new Map<number, (metrics: readonly unknown[] | undefined) => void>();
  #start: StartMessage;
  #lastId = 0;
  #isReady = false;

  constructor(options: RoleProcessOptions) {
    this.#options = options;
    this.#start = options.start;
    this.name = options.start.name;
    this.#process = new SupervisedProcess({
      launch: () => this.#launch(),
      onDeath: (death) => {
        this.#isReady = false;
        options.onDeath(this, death);
      },
      backoff: BACKOFF,
      settledAfterMs: SETTLED_AFTER_MS,
      now: () => performance.now(),
      random: Math.random,
    });
  }

  get isReady(): boolean {
    return this.#isReady;
  }

  /** What the process is started with. */
  get start(): StartMessage {
    return this.#start;
  }

  /** Uses another message for later starts. */
  useStart(start: StartMessage): void {
    this.#start = start;
  }

  send(message: ToChild): boolean {
    return this.#process.send(message);
  }

  kill(): void {
    this.#process.kill();
  }

  /** Returns `undefined` if it does not answer in time or ends first. */
  collect(): Promise<readonly unknown[] | undefined> {
    const id = ++this.#lastId;
    return new Promise((resolve) => {
      const finish = (metrics: readonly unknown[] | undefined) => {
        clearTimeout(timer);
        this.#metricsWaiters.delete(id);
        resolve(metrics);
      };
      const timer = setTimeout(() => finish(undefined), METRICS_LIMIT_MS);
      this.#metricsWaiters.set(id, finish);
      if (!this.send({ kind: 'metrics', id })) finish(undefined);
    });
  }

  async stop(graceMs: number): Promise<void> {
    const { part, config } = this.#options.start;
    const delayMs = part === 'control' ? config.stopDelaySeconds * 1000 : 0;
    await this.#process.stop(() => this.send({ kind: 'stop', graceMs }), graceMs + delayMs + STOP_MARGIN_MS);
    this.#isReady = false;
  }

  /**
   * Lets the process end with its last connection; it is not started again. Resolves when it has ended, with the reason
   * if it died.
   */
  async drain(limits: DrainLimits): Promise<string | undefined> {
    const { child } = this.#process;
    await this.#process.stop(() => this.send({ kind: 'drain', ...limits }), limits.limitMs + DRAIN_MARGIN_MS);
    this.#isReady = false;
    if (child === undefined || child.exitCode === 0) return undefined;
    return child.signalCode === null ? `exit code ${child.exitCode}` : `signal ${child.signalCode}`;
  }

  /** Ends the process and starts it again. */
  async renew(graceMs: number): Promise<void> {
    this.#isReady = false;
    await this.#process.renew(() => this.send({ kind: 'stop', graceMs }), graceMs + STOP_MARGIN_MS);
  }

  #launch() {
    const { entry, log, sink } = this.#options;
    const start = this.#start;
    const sockets = this.#options.sockets();
    const isWorker = start.part === 'edge-worker';
    const child = fork(entry, ['part', this.name], {
      execArgv: isWorker ? [...PART_FLAGS, ...WORKER_FLAGS] : PART_FLAGS,
      env: environmentWith(isWorker ? WORKER_ENVIRONMENT : {}),
      stdio: ['ignore', 'pipe', 'pipe', 'ipc', ...Object.values(sockets).flat()],
    });
    if (child.pid === undefined) return child; // its `error` event follows; it may have neither outputs nor a channel
    for (const output of [child.stdout, child.stderr]) if (output !== null) forwardLines(output, sink);
    log.debug({ part: this.name, partPid: child.pid }, 'started');
    onMessage(child, (message) => this.#receive(message));
    child.once('exit', () => {
      for (const finish of [...this.#metricsWaiters.values()]) finish(undefined);
    });
    child.send({ ...start, sockets: numberSockets(sockets) } satisfies StartMessage, () => {}); // a process that is gone before it hears this has its death handled
    return child;
  }

  #receive(message: FromChild): void {
    switch (message.kind) {
      case 'ready':
        this.#isReady = true;
        this.#options.onReady(this, message.news);
        break;
      case 'failed':
        this.#options.onFailed(this, message.problem);
        break;
      case 'metrics':
        this.#metricsWaiters.get(message.id)?.(message.metrics);
        break;
      case 'changed':
      case 'inForce':
      case 'prefetch':
      case 'prefetched':
      case 'originUses':
      case 'originProbes':
      case 'ticketSecrets':
      case 'clientRates':
      case 'vitals':
      case 'health':
      case 'tails':
      case 'tailed':
        this.#options.onRelayed(this, message);
        break;
      default:
        unreachable(message);
    }
  }
}

/** Returns the descriptors that the sockets have in the child process. */
function numberSockets(sockets: SocketSet): SocketSet {
  let next = FIRST_SOCKET;
  // The keys are those of a `SocketSet`.
  const entries = Object.entries(sockets) as [ListenerName, readonly number[]][];
  return Object.fromEntries(entries.map(([name, descriptors]) => [name, descriptors.map(() => next++)]));
}
