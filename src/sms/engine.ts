/** Composes the SMS engine of one process: its connectors, the rounds of the queue, the sweeper and webhooks. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Transaction } from 'kysely';
import type { Registry } from 'prom-client';
import type { Schema } from '#db/schema/schema.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { listConnectors, listRoutes, openSettings, type StoredConnector } from '#db/tables/sms/connectors.ts';
import { queueDeliveries } from '#db/tables/sms/deliveries.ts';
import { noteMessages } from '#db/tables/sms/message-watch.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import type { CarrierSettings, ConnectorSettings } from '#model/sms-connector.ts';
import type { ConnectorReport } from '#model/sms-connector-report.ts';
import type { PostWebhook } from '#webhooks/webhook-post.ts';
import type { WaitingSubmissions } from './acceptor.ts';
import type { CarrierEvents, ConnectCarrier } from './carrier.ts';
import { ConnectorReports } from './connector-reports.ts';
import { Dispatcher } from './dispatcher.ts';
import { type InboundEvent, receiptToStore, replyToStore, unreadToStore } from './inbound-events.ts';
import { Inbox } from './inbox.ts';
import { type Line, Lines } from './lines.ts';
import { createSmsMetrics, type SmsMetrics } from './metrics.ts';
import { partOutcomeOf } from './outcome.ts';
import { holdsSession, ownedConnectors, sessionLeases } from './owned-connectors.ts';
import { createProcedures } from './procedures.ts';
import { RouteTable } from './route.ts';
import { SeldomLog } from './seldom-log.ts';
import { DEFAULT_WAITS, type SmsWaits, startSweeper } from './sweeper.ts';
import type { SmsTools } from './tools.ts';
import { startWebhooks } from './webhooks.ts';

export interface SmsEngineOptions extends Omit<SmsTools, 'metrics'> {
  readonly ring: Keyring;
  readonly connect: ConnectCarrier<ConnectorSettings>;
  readonly post: PostWebhook;
  readonly timers: Timers;
  readonly registry: Registry;
  readonly waits?: SmsWaits;
}

export interface SmsEngine {
  /** Notified when this process has accepted messages. */
  wake(): void;
  /** Notified when requests are waiting to be accepted. Returns whether the next round takes them. */
  offer(submissions: WaitingSubmissions): boolean;
  /** Notified when this process has changed connectors or routes. */
  reload(): Promise<void>;
  /** Whether this process can send by the connector now. */
  isUp(connectorId: number): boolean;
  /** How the connectors of this process are now. */
  reports(): readonly ConnectorReport[];
  /** Stops sending. Responses have `graceMs` to arrive; parts without one become uncertain. */
  stop(graceMs: number): Promise<void>;
}

/** Interval for noticing what another process has accepted or changed. */
const POLL_MS = 500;
const DRAIN_POLL_MS = 20;

export async function startSmsEngine(options: SmsEngineOptions): Promise<SmsEngine> {
  const engine = new Engine(options);
  await engine.reload();
  engine.begin();
  return engine;
}

class Engine implements SmsEngine {
  readonly #options: SmsEngineOptions;
  readonly #metrics: SmsMetrics;
  readonly #inbox = new Inbox<InboundEvent>(() => this.#dispatcher?.wake());
  readonly #lines: Lines;
  readonly #reports: ConnectorReports;
  readonly #services = new AsyncDisposableStack();
  #routes = new RouteTable([]);
  /** Connectors as last read, those of other controls included. */
  #connectors: readonly StoredConnector[] = [];
  #dispatcher: Dispatcher | undefined;
  #reloading: Promise<void> | undefined;
  #reads: Promise<void> = Promise.resolve();

  constructor(options: SmsEngineOptions) {
    const { connect, ring, timers, random, log, registry, chargeAt, peers, clock } = options;
    this.#options = options;
    this.#reports = new ConnectorReports(clock);
    this.#metrics = createSmsMetrics(registry, { lines: () => this.#lines.all });
    this.#lines = new Lines({
      connect: (settings, events, its) => {
        if (chargeAt === 'receipt') warnOfNoReceipts(settings, its.log);
        return connect(settings, events, its);
      },
      tools: { log, timers, clock, random },
      openSettings: (connector) => openSettings(ring, connector),
      events: (line) => this.#eventsOf(line),
      holds: (connector) => holdsSession(connector, (lease) => peers.holds(lease)),
    });
  }

  /** Applies the stored connectors and routes. */
  async reload(): Promise<void> {
    // Run one at a time, so that rows read before a change are not applied after it.
    const read = this.#reads.then(() => this.#read());
    this.#reads = read.catch(() => undefined);
    await read;
  }

  async #read(): Promise<void> {
    const { db } = this.#options;
    const [connectors, routes] = [await listConnectors(db.query), await listRoutes(db.query)];
    this.#connectors = connectors;
    this.#options.peers.want('connectors', sessionLeases(connectors));
    this.#openOwned();
    this.#routes = new RouteTable(routes);
  }

  /** Opens the connectors whose sessions belong to this control, and closes the others. */
  #openOwned(): void {
    const { peers } = this.#options;
    this.#lines.reload(ownedConnectors(this.#connectors, (lease) => peers.holds(lease)));
  }

  begin(): void {
    const { ring, timers, post, waits = DEFAULT_WAITS, ...options } = this.#options;
    const tools = { ...options, metrics: this.#metrics };
    const store = async (trx: Transaction<Schema>, endedParts: readonly number[], now: number) => {
      await queueDeliveries(trx, { endedParts, replies: [] }, now);
      await noteMessages(trx, { partIds: endedParts });
    };
    this.#dispatcher = new Dispatcher({
      ...tools,
      pollMs: POLL_MS,
      inbox: this.#inbox,
      lines: () => this.#lines.all,
      routes: () => this.#routes,
      procedures: createProcedures(),
    });
    const isAlone = tools.db.engine === 'sqlite';
    this.#services.defer(tools.peers.onChange(() => this.#openOwned()));
    const onQueued = () => this.#dispatcher?.wake();
    const underWay = () => [...(this.#dispatcher?.underWay ?? [])];
    const wasSent = (partId: number) => this.#dispatcher?.wasSent(partId) ?? false;
    this.#services.use(startSweeper({ ...tools, isAlone, underWay, wasSent, waits, store, onQueued }));
    this.#services.use(startWebhooks({ ...tools, ring, timers, post }));
    const timer = setInterval(() => {
      this.#reloadSoon();
      void this.#sample(); // never rejects: it reads a counter
    }, POLL_MS);
    this.#services.defer(() => clearInterval(timer));
    tools.peers.showConnectors(() => this.reports());
  }

  wake(): void {
    this.#dispatcher?.wake();
  }

  isUp(connectorId: number): boolean {
    return this.#lines.all.some(({ id, isUp }) => id === connectorId && isUp);
  }

  reports(): readonly ConnectorReport[] {
    return this.#reports.of(this.#lines.all);
  }

  offer(submissions: WaitingSubmissions): boolean {
    return this.#dispatcher?.offer(submissions) ?? false;
  }

  async stop(graceMs: number): Promise<void> {
    const deadline = performance.now() + graceMs;
    this.#dispatcher?.stopClaiming();
    await this.#services[Symbol.asyncDispose]();
    await this.#reloading;
    while ((this.#dispatcher?.underWay.size ?? 0) > 0 && performance.now() < deadline) await delay(DRAIN_POLL_MS);
    await this.#lines[Symbol.asyncDispose]();
    await this.#dispatcher?.[Symbol.asyncDispose]();
  }

  /** Notes what the lines can do, which also changes with leases, and what they have sent. */
  async #sample(): Promise<void> {
    this.#reports.note(this.#lines.all);
    const { values } = await this.#metrics.outcomes.get();
    const sent = new Map<string, number>();
    for (const { labels, value } of values) {
      const name = String(labels.connector ?? '');
      sent.set(name, (sent.get(name) ?? 0) + value);
    }
    this.#reports.sample(sent);
  }

  #reloadSoon(): void {
    this.#reloading ??= this.reload()
      .catch((error: unknown) =>
        this.#options.log.error({ err: error }, 'cannot read SMS connectors and routes; retrying'),
      )
      .finally(() => {
        this.#reloading = undefined;
      });
  }

  #eventsOf(line: Line): CarrierEvents {
    const { clock, random, log, timers } = this.#options;
    const unreadLog = new SeldomLog(timers);
    return {
      receipt: async (receipt) => {
        await this.#inbox.put(receiptToStore(line.id, receipt));
        this.#metrics.receipts.inc({ connector: line.name, state: receipt.state });
      },
      reply: async (message) => {
        await this.#inbox.put(replyToStore(line.id, message));
        this.#metrics.replies.inc({ connector: line.name });
      },
      unread: async (unread) => {
        await this.#inbox.put(unreadToStore(line.id, unread));
        const { reason, command } = unread;
        this.#metrics.unread.inc({ connector: line.name, reason });
        unreadLog.note((count) =>
          log.warn(
            { connector: line.name, reason, command, count },
            'cannot parse a message from the carrier; see "causeway sms unread"',
          ),
        );
      },
      lateAnswer: (partId, outcome) => {
        const now = clock();
        const isMisconfigured = line.misconfigured !== undefined;
        const facts = { tries: 1, position: 0, connectors: 1, isMisconfigured, now, random: random() };
        const stored = partOutcomeOf(outcome, facts);
        this.#dispatcher?.note({ partId, connectorId: line.id, sentAt: now, endedAt: now, outcome: stored });
      },
      stateChanged: () => {
        this.#reports.note(this.#lines.all);
        this.#options.peers.noteConnectorsUp(this.#lines.all.flatMap(({ id, isUp }) => (isUp ? [id] : [])));
        this.#dispatcher?.wake();
      },
      sessionEnded: () => undefined, // the connector has logged it
      roomFreed: () => this.#dispatcher?.wake(),
    };
  }
}

/** Warns if a connector requests no receipts: its parts would end without one and be refunded. */
function warnOfNoReceipts(settings: ConnectorSettings, log: Logger): void {
  if (settings.kind === 'loopback' || tellsSuccess(settings)) return;
  log.warn(
    'sms-charge-at is "receipt" but the connector does not request delivery receipts; its messages are not charged',
  );
}

/** Bit of `registered_delivery` that requests receipts of success. SMPP 3.4 §5.2.17 */
const REQUESTS_SUCCESS = 1;

function tellsSuccess(settings: CarrierSettings): boolean {
  return settings.kind === 'smpp'
    ? (settings.registeredDelivery & REQUESTS_SUCCESS) !== 0
    : settings.receipts === 'all';
}
