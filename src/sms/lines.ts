/** The open connectors of this process: opens and closes them as their rows change, and limits how much each sends. */
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { TokenBuckets } from '#lib/token-bucket.ts';
import { MAX_SMS_PARTS } from '#model/limits.ts';
import type { ConnectorSettings } from '#model/sms-connector.ts';
import type {
  Carrier,
  CarrierEvents,
  CarrierState,
  CarrierTools,
  ConnectCarrier,
  PartToSubmit,
  SubmitOutcome,
} from './carrier.ts';
import { Misconfiguration } from './misconfiguration.ts';

export interface LinesOptions {
  readonly connect: ConnectCarrier<ConnectorSettings>;
  readonly tools: CarrierTools;
  /** Throws if the password cannot be decrypted. */
  openSettings(connector: StoredConnector): ConnectorSettings;
  events(line: Line): CarrierEvents;
  /** Whether the connector's session belongs to this process now, without asking the database. docs/decisions/0612 */
  holds(connector: StoredConnector): boolean;
}

/** Pause after a failed submit: its session has just ended, and an immediate retry would only be refused again. */
const UNSENT_PAUSE_MS = 200;
/** Seconds of a rate that may be sent in one burst. */
const BURST_SECONDS = 0.1;

export class Line {
  readonly id: number;
  readonly name: string;
  readonly kind: ConnectorSettings['kind'];
  /** Number or name that phones show; may be empty. */
  readonly sender: string;
  readonly #log: Logger;
  readonly #timers: Timers;
  readonly #isHeld: () => boolean;
  readonly #partsPerSecond: number | undefined;
  readonly #misconfiguration = new Misconfiguration();
  #bucket: TokenBuckets | undefined;
  #carrier: Carrier | undefined;
  #changed: () => void = () => {};
  #cancelRest: (() => void) | undefined;
  #pausedUntil = 0;

  constructor(
    { id, name, partsPerSecond }: StoredConnector,
    { kind, sender }: { readonly kind: ConnectorSettings['kind']; readonly sender: string },
    { log, timers, isHeld }: Pick<CarrierTools, 'log' | 'timers'> & { readonly isHeld: () => boolean },
  ) {
    this.id = id;
    this.name = name;
    this.kind = kind;
    this.sender = sender;
    this.#log = log;
    this.#timers = timers;
    this.#isHeld = isHeld;
    this.#partsPerSecond = partsPerSecond;
  }

  /** `changed`: called when a rest begins or ends. */
  open(carrier: Carrier, changed: () => void): void {
    this.#carrier = carrier;
    this.#changed = changed;
    if (this.#partsPerSecond === undefined) return;
    const least = carrier.wholeMessages ? MAX_SMS_PARTS : 1;
    const burst = Math.max(least, Math.ceil(this.#partsPerSecond * BURST_SECONDS));
    this.#bucket = new TokenBuckets({ perSecond: this.#partsPerSecond, burst, maxKeys: 1 });
  }

  get state(): CarrierState {
    const state = this.#carrier?.state ?? 'connecting';
    return state === 'bound' && this.#isResting ? 'paused' : state;
  }

  /** Whether the parts of a message must go out together. */
  get wholeMessages(): boolean {
    return this.#carrier?.wholeMessages === true;
  }

  /** The carrier's code if it refuses everything for the settings of the connector. docs/decisions/0751 */
  get misconfigured(): string | undefined {
    return this.#misconfiguration.status;
  }

  /** Whether the line can both send and receive. */
  get isWhole(): boolean {
    return this.isUp && this.isReceiving;
  }

  get isReceiving(): boolean {
    return this.#carrier?.isReceiving === true;
  }

  /** Parts that were sent and have no answer yet. */
  get inFlight(): number {
    return this.#carrier?.inFlight ?? 0;
  }

  get isUp(): boolean {
    return (this.state === 'bound' || this.state === 'paused') && !this.#isResting && this.#isHeld();
  }

  /** Parts that may be sent now. */
  get room(): number {
    const now = this.#timers.now();
    if (now < this.#pausedUntil || !this.#isHeld() || this.#isResting) return 0;
    const free = this.#carrier?.room ?? 0;
    const room = this.misconfigured === undefined ? free : Math.min(free, MAX_SMS_PARTS - this.inFlight);
    return this.#bucket === undefined ? room : Math.min(room, this.#bucket.available('', now));
  }

  /** Time until the rate allows another part; `undefined`: the line does not wait for its rate. */
  get waitMs(): number | undefined {
    const now = this.#timers.now();
    if (now < this.#pausedUntil) return this.#pausedUntil - now;
    if (this.#bucket === undefined || (this.#carrier?.room ?? 0) === 0 || this.#bucket.available('', now) > 0)
      return undefined;
    const none = this.#bucket.take('', now);
    return none.kind === 'empty' ? none.waitMs : 0;
  }

  async submit(part: PartToSubmit): Promise<SubmitOutcome> {
    // A process that stood still may go on here, before any timer has told it that its lease is over.
    if (!this.#isHeld()) return { kind: 'unsent', reason: 'lease' };
    this.#bucket?.take('', this.#timers.now());
    const outcome = (await this.#carrier?.submit(part)) ?? { kind: 'unsent', reason: 'closed' };
    const now = this.#timers.now();
    if (outcome.kind === 'unsent') this.#pausedUntil = now + UNSENT_PAUSE_MS;
    const restMs = this.#misconfiguration.note(outcome, now);
    if (restMs !== undefined) this.#rest(restMs);
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#cancelRest?.();
    await this.#carrier?.[Symbol.asyncDispose]();
  }

  get #isResting(): boolean {
    return this.misconfigured !== undefined && this.#misconfiguration.isResting(this.#timers.now());
  }

  #rest(restMs: number): void {
    this.#log.error(
      { status: this.misconfigured, restMs },
      'the carrier refuses every part for the settings of the connector; it rests',
    );
    this.#cancelRest = this.#timers.after(restMs, this.#changed);
    this.#changed();
  }
}

export class Lines implements AsyncDisposable {
  readonly #options: LinesOptions;
  /** Open lines by id, each with the text of the row that it was opened from. */
  readonly #open = new Map<number, { readonly line: Line; readonly row: string }>();
  /** Rows that could not be opened: logged once, and retried when they change. */
  readonly #broken = new Map<number, string>();
  /** Closing lines by id. */
  readonly #closing = new Map<number, Promise<void>>();
  /** Connectors as last read. */
  #connectors: readonly StoredConnector[] = [];

  constructor(options: LinesOptions) {
    this.#options = options;
  }

  get all(): readonly Line[] {
    return [...this.#open.values()].map(({ line }) => line);
  }

  get(id: number): Line | undefined {
    return this.#open.get(id)?.line;
  }

  /**
   * Unchanged connectors stay open. Parts in flight on one that closes become uncertain. A changed one is reopened only
   * when it has closed: many carriers allow one session, and would refuse the second for half a minute.
   * docs/decisions/0287
   */
  reload(connectors: readonly StoredConnector[]): void {
    this.#connectors = connectors;
    const wanted = new Map(connectors.filter(({ enabled }) => enabled).map((row) => [row.id, row]));
    for (const [id, { line, row }] of this.#open) {
      const next = wanted.get(id);
      if (next !== undefined && JSON.stringify(next) === row) continue;
      this.#open.delete(id);
      this.#close(line);
    }
    for (const connector of wanted.values()) {
      const isTried = this.#open.has(connector.id) || this.#broken.get(connector.id) === JSON.stringify(connector);
      if (!isTried && !this.#closing.has(connector.id)) this.#openLine(connector);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#connectors = [];
    for (const { line } of this.#open.values()) this.#close(line);
    this.#open.clear();
    await Promise.all(this.#closing.values());
  }

  #openLine(connector: StoredConnector): void {
    const { connect, tools, openSettings, events, holds } = this.#options;
    const log: Logger = tools.log.child({ connector: connector.name });
    try {
      const settings = openSettings(connector);
      const sender = settings.kind === 'loopback' ? '' : settings.sender;
      const isHeld = () => holds(connector);
      const line = new Line(connector, { kind: settings.kind, sender }, { log, timers: tools.timers, isHeld });
      this.#open.set(connector.id, { line, row: JSON.stringify(connector) });
      const its = events(line);
      line.open(connect(settings, its, { ...tools, log }), () => its.stateChanged(line.state));
    } catch (error) {
      this.#broken.set(connector.id, JSON.stringify(connector));
      log.error({ err: error }, 'cannot open the connector');
    }
  }

  #close(line: Line): void {
    const closing = line[Symbol.asyncDispose]().finally(() => {
      this.#closing.delete(line.id);
      this.reload(this.#connectors);
    });
    this.#closing.set(line.id, closing);
  }
}
