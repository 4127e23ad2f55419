/** All parts of one running service: connects, counts, restarts and stops them. */
import type { Config } from '#config';
import type { LogSink } from '#lib/log-sink.ts';
import type { Logger } from '#lib/logger.ts';
import type { Death } from '#lib/supervise.ts';
import { unreachable } from '#lib/unreachable.ts';
import { watchDisks } from '../process/disk-space.ts';
import { countLostLines } from '../process/log-metrics.ts';
import {
  type ChangedMessage,
  type HealthMessage,
  type PrefetchMessage,
  type ReadyNews,
  type StartMessage,
  type TailsMessage,
  UNDER_WAY,
} from '../process/messages.ts';
import { hasGenerations, type Succession } from '../process/process-plan.ts';
import type { HeldSockets } from '../sockets/held-sockets.ts';
import { ChangeRelay } from './change-relay.ts';
import { createSupervisorMetrics, type SupervisorMetrics, startMetricsServer, sumOf } from './metrics.ts';
import { PrefetchRelay } from './prefetch-relay.ts';
import { ProcessGenerations, type Replaced, type Replacement } from './process-generations.ts';
import { type RelayedMessage, RoleProcess } from './role-process.ts';

export interface ServiceOptions {
  readonly parts: readonly StartMessage[];
  readonly sockets: HeldSockets;
  readonly entry: string;
  readonly config: Config;
  readonly log: Logger;
  /** Sink for the log lines of all parts. */
  readonly sink: LogSink;
}

export type Started =
  | { readonly kind: 'started'; readonly news: ReadyNews }
  | { readonly kind: 'failed'; readonly problem: string };

/** A worker that does not apply a change within this time is restarted. */
const CHANGE_LIMIT_MS = 10_000;
/**
 * Pause before a restart from which a process has died several times in a row. Connections no longer wait for the next
 * one.
 */
const LONG_PAUSE_MS = 500;
/** Time for the feed's process to end before it is restarted with other settings. */
const FEED_GRACE_MS = 5_000;

export class Service implements AsyncDisposable {
  readonly #options: ServiceOptions;
  readonly #log: Logger;
  /** Control and the feed's process. */
  readonly #others: readonly RoleProcess[];
  /** The edge workers and the live process. */
  readonly #generations: ProcessGenerations;
  readonly #relay: ChangeRelay;
  readonly #prefetches: PrefetchRelay;
  readonly #metrics: SupervisorMetrics;
  readonly #disks: AsyncDisposable;
  readonly #started = Promise.withResolvers<Started>();
  #metricsServer: AsyncDisposable | undefined;
  #news: ReadyNews = {};
  /** The last message, for workers that are started later. */
  #health: HealthMessage | undefined;
  /** The same, for all parts that write logs. */
  #tails: TailsMessage | undefined;
  #hasStarted = false;
  #isStopping = false;

  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    service.#metricsServer = await startMetricsServer({
      listen: options.config.metricsListen,
      metrics: service.#metrics,
      sources: () => service.#all,
      log: options.log,
    });
    return service;
  }

  private constructor(options: ServiceOptions) {
    const { parts, log, sink } = options;
    this.#options = options;
    this.#log = log;
    this.#metrics = createSupervisorMetrics(parts[0]?.build ?? '');
    this.#disks = watchDisks(options.config, this.#metrics.registry);
    countLostLines(this.#metrics.registry, sink);
    this.#others = parts.filter(({ part }) => !hasGenerations(part)).map((start) => this.#create(start));
    this.#generations = new ProcessGenerations({
      starts: parts.filter(({ part }) => hasGenerations(part)),
      create: (start) => this.#create(start),
      onChange: () => this.#tellLogWriters(),
      onGone: (part) => this.#noteGone(part),
      log,
    });
    const hasWorkers = parts.some(({ part }) => part === 'edge-worker');
    this.#prefetches = new PrefetchRelay(() => this.#generations.present.filter(isWorker));
    this.#relay = new ChangeRelay({
      // Where there are edge workers, a change is in force only when one of them runs it.
      workers: () => (hasWorkers ? this.#workers : this.#generations.all),
      others: () => (hasWorkers ? this.#generations.all.filter((part) => !isWorker(part)) : []),
      limitMs: CHANGE_LIMIT_MS,
      onSilent: ({ name }) =>
        log.error({ part: name, limitMs: CHANGE_LIMIT_MS }, 'killed: it did not apply a change of settings in time'),
    });
  }

  /** Settles once: every part is ready, or one could not start. */
  get started(): Promise<Started> {
    return this.#started.promise;
  }

  /** Returns the viewers' requests in flight, without workers that do not answer in time. */
  async countUnderWay(): Promise<number> {
    const answers = await Promise.all(this.#workers.map((worker) => worker.collect()));
    return answers.reduce((sum, metrics) => sum + sumOf(metrics ?? [], UNDER_WAY), 0);
  }

  /** Replaces the edge workers and the live process without losing a request. */
  async replaceGeneration(replacement: Replacement): Promise<Replaced> {
    // Probes of the health page must not notice new workers.
    const health = this.#health && { health: this.#health.word };
    const plan = (succession: Succession) => replacement.plan(succession).map((start) => ({ ...start, ...health }));
    return await this.#generations.replace({ ...replacement, plan });
  }

  /** Restarts the feed's process, which serves no viewers, with other settings. */
  async renewFeed(start: StartMessage): Promise<void> {
    for (const feed of this.#feeds) {
      feed.useStart({ ...start, logWriters: this.#logWriters });
      await feed.renew(FEED_GRACE_MS);
    }
  }

  /**
   * Stops the service; resolves when every process has ended. The feed stops before control, or it would log a lost
   * connection.
   */
  async stop(graceMs: number): Promise<void> {
    this.#isStopping = true;
    this.#generations.stop();
    await Promise.all(this.#all.toReversed().map((part) => part.stop(graceMs)));
  }

  /** Kills all processes that still run. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#generations.stop();
    for (const part of this.#all) part.kill();
    await Promise.all(this.#all.map((part) => part.stop(0)));
    await this.#metricsServer?.[Symbol.asyncDispose]();
    await this.#disks[Symbol.asyncDispose]();
  }

  get #all(): readonly RoleProcess[] {
    return [...this.#others, ...this.#generations.all];
  }

  /** All edge workers, those that drain first. */
  get #workers(): readonly RoleProcess[] {
    return this.#generations.all.filter(isWorker);
  }

  get #feeds(): readonly RoleProcess[] {
    return this.#others.filter(({ start }) => start.part === 'edge-feed');
  }

  #create(start: StartMessage): RoleProcess {
    const { entry, sink, sockets } = this.#options;
    return new RoleProcess({
      start,
      entry,
      log: this.#log,
      sink,
      sockets: () => sockets.of(start.slot),
      onReady: (part, news) => this.#noteReady(part, news),
      onFailed: (part, problem) => this.#noteFailure(part, problem),
      onDeath: (part, death) => this.#noteDeath(part, death),
      onRelayed: (part, message) => this.#passOn(part, message),
    });
  }

  /** Names of the parts that write access logs. The files of others have ended. */
  get #logWriters(): readonly string[] {
    return this.#generations.all.map(({ name }) => name);
  }

  #tellLogWriters(): void {
    const names = this.#logWriters;
    for (const feed of this.#feeds) {
      feed.useStart({ ...feed.start, logWriters: names });
      feed.send({ kind: 'logWriters', names });
    }
    this.#metrics.draining.set(this.#generations.draining.length);
  }

  #noteReady(part: RoleProcess, news: ReadyNews): void {
    this.#metrics.up.set({ part: part.name }, 1);
    if (this.#health !== undefined && isWorker(part)) part.send(this.#health);
    if (this.#tails !== undefined && hasGenerations(part.start.part)) part.send(this.#tails);
    this.#log.info({ part: part.name }, 'ready');
    this.#news = { ...this.#news, ...news };
    this.#generations.noteReady();
    if (this.#hasStarted || !this.#all.every(({ isReady }) => isReady)) return;
    this.#hasStarted = true;
    this.#started.resolve({ kind: 'started', news: this.#news });
  }

  /** Handles a failed start: fatal at the first start, when a person can fix it; later, the next try may succeed. */
  #noteFailure(part: RoleProcess, reason: string): void {
    const problem = `${part.name} cannot start: ${reason}`;
    if (this.#generations.noteFailure(part, reason)) return;
    if (this.#hasStarted) this.#log.error({ part: part.name, problem }, 'cannot restart; retrying');
    else this.#started.resolve({ kind: 'failed', problem });
  }

  #noteDeath(part: RoleProcess, { how, pid, delayMs }: Death): void {
    this.#relay.forget(part.name);
    this.#prefetches.forget(part.name);
    if (this.#generations.noteFailure(part, `it died (${how})`)) return;
    this.#metrics.up.set({ part: part.name }, 0);
    this.#metrics.restarts.inc({ part: part.name });
    if (delayMs >= LONG_PAUSE_MS) this.#options.sockets.renew(part.start.slot);
    this.#log.error({ part: part.name, partPid: pid, how, restartInMs: delayMs }, 'died');
    this.#started.resolve({ kind: 'failed', problem: `${part.name} ended before it was ready (${how}); see the log` });
  }

  /** A process has ended for good. */
  #noteGone({ name }: RoleProcess): void {
    this.#relay.forget(name);
    this.#prefetches.forget(name);
    this.#metrics.up.remove({ part: name });
  }

  #passOn(part: RoleProcess, message: RelayedMessage): void {
    switch (message.kind) {
      case 'changed':
        this.#relayFrom(part, message);
        break;
      case 'inForce':
        this.#relay.settle(part.name, message.id);
        break;
      case 'prefetch':
        this.#relayPrefetch(part, message);
        break;
      case 'prefetched':
        this.#prefetches.settle(part.name, message.id, message.outcome);
        break;
      case 'health':
        this.#health = message;
        for (const worker of this.#workers) worker.send(message);
        break;
      case 'tails':
        this.#tails = message;
        for (const writer of this.#generations.all) writer.send(message);
        break;
      case 'originUses':
      case 'vitals':
      case 'tailed':
        for (const feed of this.#feeds) feed.send(message);
        break;
      case 'clientRates':
        for (const worker of this.#workers) if (worker !== part) worker.send(message);
        break;
      case 'originProbes':
      case 'ticketSecrets':
        for (const worker of this.#workers) worker.send(message);
        break;
      default:
        unreachable(message);
    }
  }

  #relayFrom(feed: RoleProcess, { kind: _, id, ...change }: ChangedMessage): void {
    // Never rejects. If the feed's process has died meanwhile, its successor asks again.
    void this.#relay.relay(change).then((isRun) => {
      // Workers that end with the service have not failed to apply a change.
      if (isRun || !this.#isStopping) feed.send({ kind: 'confirmed', id, isRun });
    });
  }

  #relayPrefetch(feed: RoleProcess, { id, request }: PrefetchMessage): void {
    // Never rejects. If the feed's process has died meanwhile, its successor asks again, with other ids.
    void this.#prefetches
      .relay(request)
      .then((outcome) => feed.send({ kind: 'prefetched', id, ...(outcome !== undefined && { outcome }) }));
  }
}

function isWorker({ start }: RoleProcess): boolean {
  return start.part === 'edge-worker';
}
