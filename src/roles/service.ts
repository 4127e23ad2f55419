/** All parts of one running service: joined with each other, counted, restarted, stopped. */
import type { Config } from '#config';
import type { LogSink } from '#lib/log-sink.ts';
import type { Logger } from '#lib/logger.ts';
import type { Death } from '#lib/supervise.ts';
import { unreachable } from '#lib/unreachable.ts';
import { ChangeRelay } from './change-relay.ts';
import { countLostLines } from './log-metrics.ts';
import {
  type ChangedMessage,
  type FirstToken,
  type HealthMessage,
  type PartKind,
  type PrefetchMessage,
  type StartMessage,
  UNDER_WAY,
} from './messages.ts';
import { createSupervisorMetrics, startMetricsServer, sumOf } from './metrics.ts';
import { PrefetchRelay } from './prefetch-relay.ts';
import { type RelayedMessage, RoleProcess } from './role-process.ts';

export interface ServiceOptions {
  readonly parts: readonly StartMessage[];
  readonly entry: string;
  readonly config: Config;
  readonly log: Logger;
  /** Where the lines of all parts come together. */
  readonly sink: LogSink;
}

export type Started =
  | { readonly kind: 'started'; readonly firstToken: FirstToken }
  | { readonly kind: 'failed'; readonly problem: string };

/** A worker that does not run a change within this time is started anew. */
const CHANGE_LIMIT_MS = 10_000;

export class Service implements AsyncDisposable {
  readonly #log: Logger;
  readonly #parts: readonly RoleProcess[];
  readonly #workers: readonly RoleProcess[];
  readonly #feeds: readonly RoleProcess[];
  readonly #relay: ChangeRelay;
  readonly #prefetches: PrefetchRelay;
  readonly #metrics = createSupervisorMetrics();
  readonly #started = Promise.withResolvers<Started>();
  #metricsServer: AsyncDisposable | undefined;
  #firstToken: FirstToken = 'none';
  /** The last one, for workers that are started later. */
  #health: HealthMessage | undefined;
  #hasStarted = false;

  static async start(options: ServiceOptions): Promise<Service> {
    const service = new Service(options);
    service.#metricsServer = await startMetricsServer({
      listen: options.config.metricsListen,
      metrics: service.#metrics,
      sources: () => service.#parts,
      log: options.log,
    });
    return service;
  }

  private constructor({ parts, entry, log, sink }: ServiceOptions) {
    this.#log = log;
    countLostLines(this.#metrics.registry, sink);
    this.#parts = parts.map(
      (start) =>
        new RoleProcess({
          start,
          entry,
          log,
          sink,
          onReady: (part, firstToken) => this.#noteReady(part, firstToken),
          onFailed: (part, problem) => this.#noteFailure(part, `${part.name} cannot start: ${problem}`),
          onDeath: (part, death) => this.#noteDeath(part, death),
          onRelayed: (part, message) => this.#passOn(part, message),
        }),
    );
    const ofKind = (kind: PartKind) => this.#parts.filter((_, index) => parts[index]?.part === kind);
    this.#workers = ofKind('edge-worker');
    this.#feeds = ofKind('edge-feed');
    const live = ofKind('live');
    this.#prefetches = new PrefetchRelay(this.#workers);
    this.#relay = new ChangeRelay({
      // Where there are edge workers, a change is in force only when one of them runs it.
      workers: this.#workers.length > 0 ? this.#workers : live,
      others: this.#workers.length > 0 ? live : [],
      limitMs: CHANGE_LIMIT_MS,
      onSilent: ({ name }) =>
        log.error({ part: name, limitMs: CHANGE_LIMIT_MS }, 'killed: it did not apply a change of settings in time'),
    });
  }

  /** Settles once: every part is ready, or one could not start. */
  get started(): Promise<Started> {
    return this.#started.promise;
  }

  /** Viewers' requests that are being served; a worker that does not say in time is left out. */
  async countUnderWay(): Promise<number> {
    const answers = await Promise.all(this.#workers.map((worker) => worker.collect()));
    return answers.reduce((sum, metrics) => sum + sumOf(metrics ?? [], UNDER_WAY), 0);
  }

  /**
   * Stops the service; resolves when every process has ended. The feed stops before control, or it would log a lost
   * connection.
   */
  async stop(graceMs: number): Promise<void> {
    await Promise.all(this.#parts.toReversed().map((part) => part.stop(graceMs)));
  }

  /** Cuts off whatever still runs. */
  async [Symbol.asyncDispose](): Promise<void> {
    for (const part of this.#parts) part.kill();
    await Promise.all(this.#parts.map((part) => part.stop(0)));
    await this.#metricsServer?.[Symbol.asyncDispose]();
  }

  #noteReady(part: RoleProcess, firstToken: FirstToken | undefined): void {
    this.#metrics.up.set({ part: part.name }, 1);
    if (this.#health !== undefined && this.#workers.includes(part)) part.send(this.#health);
    this.#log.info({ part: part.name }, 'ready');
    this.#firstToken = firstToken ?? this.#firstToken;
    if (this.#hasStarted || !this.#parts.every(({ isReady }) => isReady)) return;
    this.#hasStarted = true;
    this.#started.resolve({ kind: 'started', firstToken: this.#firstToken });
  }

  /** Handles a failed start: fatal at the first start, when a person can fix it; later, the next try may succeed. */
  #noteFailure(part: RoleProcess, problem: string): void {
    if (this.#hasStarted) this.#log.error({ part: part.name, problem }, 'cannot restart; retrying');
    else this.#started.resolve({ kind: 'failed', problem });
  }

  #noteDeath(part: RoleProcess, { how, pid, delayMs }: Death): void {
    this.#metrics.up.set({ part: part.name }, 0);
    this.#metrics.restarts.inc({ part: part.name });
    this.#relay.forget(part.name);
    this.#prefetches.forget(part.name);
    this.#log.error({ part: part.name, partPid: pid, how, restartInMs: delayMs }, 'died');
    this.#started.resolve({ kind: 'failed', problem: `${part.name} ended before it was ready (${how}); see the log` });
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
      case 'originUses':
      case 'vitals':
        for (const feed of this.#feeds) feed.send(message);
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
    // Only resolves; a feed that has died meanwhile asks again.
    void this.#relay.relay(change).then((isRun) => feed.send({ kind: 'confirmed', id, isRun }));
  }

  #relayPrefetch(feed: RoleProcess, { id, request }: PrefetchMessage): void {
    // Only resolves; a feed that has died meanwhile asks again, with other ids.
    void this.#prefetches
      .relay(request)
      .then((outcome) => feed.send({ kind: 'prefetched', id, ...(outcome !== undefined && { outcome }) }));
  }
}
