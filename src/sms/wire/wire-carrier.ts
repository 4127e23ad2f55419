/** The connector to a carrier whose protocol has sessions and requests with numbers, over one connection or several. */
import { MAX_SMS_PARTS } from '#model/limits.ts';
import type { LinkSettings } from '#model/sms-connector.ts';
import type { Carrier, CarrierEvents, CarrierState, CarrierTools, PartToSubmit, SubmitOutcome } from '../carrier.ts';
import { WireConnection } from './connection.ts';
import type { Dialect, WireRequest } from './dialect.ts';
import { Pace } from './pace.ts';
import type { WireAnswer } from './pending.ts';
import type { SessionEnd, WireSession } from './session.ts';
import { describeEnd } from './session-end.ts';

export interface WireOptions<P, R extends WireRequest> {
  readonly settings: LinkSettings;
  /** One for each connection. */
  readonly dialects: readonly Dialect<P, R>[];
  /** See `Carrier`. */
  readonly wholeMessages: boolean;
  /** Opens where receipts and replies arrive, if that is not a session of ours. They may arrive there as well. */
  readonly openReceiver?: (events: ReceiverEvents<P>) => Receiver;
}

export interface ReceiverEvents<P> {
  /** Returns whether the delivery is stored. Never rejects. */
  deliver(packet: P, frame: Buffer): Promise<boolean>;
  /** Notified when `isReceiving` changes. */
  changed(): void;
  /** Notified when the carrier cannot reach us; it is tried again. */
  failed(reason: string): void;
}

export interface Receiver extends AsyncDisposable {
  readonly isReceiving: boolean;
}

/** How long responses are awaited when the connector is closed. */
const LAST_ANSWERS_MS = 5_000;

export class WireCarrier<P, R extends WireRequest> implements Carrier {
  readonly wholeMessages: boolean;
  readonly #settings: LinkSettings;
  readonly #events: CarrierEvents;
  readonly #tools: CarrierTools;
  /** Limits each connection, and pauses all of them. */
  readonly #pace: Pace;
  readonly #connections: readonly WireConnection<P, R>[];
  readonly #senders: readonly WireConnection<P, R>[];
  readonly #receiver: Receiver | undefined;
  /** Has taken parts of a message whose other parts follow. */
  #begun: WireConnection<P, R> | undefined;
  #inFlight = 0;
  /** Messages from the carrier that could not be stored since the last one that was. */
  #unstored = 0;
  #isClosing = false;
  #isEmpty: (() => void) | undefined;
  #cancelPause: (() => void) | undefined;
  #reported: { readonly state: CarrierState; readonly isReceiving: boolean; readonly hasRoom: boolean } = {
    state: 'connecting',
    isReceiving: false,
    hasRoom: false,
  };

  constructor(options: WireOptions<P, R>, events: CarrierEvents, tools: CarrierTools) {
    const { settings, dialects, wholeMessages, openReceiver } = options;
    this.wholeMessages = wholeMessages;
    this.#settings = settings;
    this.#events = events;
    this.#tools = tools;
    this.#pace = new Pace(settings.window, wholeMessages ? MAX_SMS_PARTS : 1);
    this.#connections = dialects.map((dialect) => this.#open(dialect));
    this.#senders = this.#connections.filter(({ dialect }) => dialect.sends);
    const [dialect] = dialects;
    this.#receiver = openReceiver?.({
      deliver: async (packet, frame) => dialect !== undefined && (await this.#deliver(dialect, packet, frame)),
      changed: () => this.#report(),
      failed: (reason) => events.sessionEnded(reason),
    });
  }

  /** Free window of one connection: the parts of a message go out by the same. */
  get room(): number {
    return this.state === 'bound' ? this.#roomOf(this.#freest) : 0;
  }

  get state(): CarrierState {
    if (this.#isClosing) return 'closed';
    if (this.#freest === undefined) return 'connecting';
    return this.#pace.isPaused(this.#tools.timers.now()) ? 'paused' : 'bound';
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get isReceiving(): boolean {
    return !this.#isClosing && (this.#receiver?.isReceiving ?? this.#connections.some(receives));
  }

  async submit(part: PartToSubmit): Promise<SubmitOutcome> {
    const connection = this.#begun ?? this.#freest;
    this.#begun = part.partsLeft > 0 ? connection : undefined;
    const session = connection?.session;
    if (connection === undefined || session === undefined || this.state !== 'bound' || this.#roomOf(connection) === 0)
      return { kind: 'unsent', reason: this.state };
    const request = connection.dialect.compose(part);
    if (request.kind === 'refused') return request;
    this.#inFlight += 1;
    connection.inFlight += 1;
    this.#report();
    const answer = await this.#exchange(connection, session, request, part.partId);
    this.#inFlight -= 1;
    connection.inFlight -= 1;
    const outcome = outcomeOf(answer, connection.dialect);
    this.#heed(outcome, session);
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#cancelPause?.();
    this.#report();
    await this.#lastAnswers();
    await Promise.all([...this.#connections, this.#receiver].map((open) => open?.[Symbol.asyncDispose]()));
  }

  /** The connection with most room, of those that can send. */
  get #freest(): WireConnection<P, R> | undefined {
    let freest: WireConnection<P, R> | undefined;
    for (const connection of this.#senders)
      if (connection.session !== undefined && connection.inFlight < (freest?.inFlight ?? Number.POSITIVE_INFINITY))
        freest = connection;
    return freest;
  }

  #roomOf(connection: WireConnection<P, R> | undefined): number {
    return connection === undefined ? 0 : this.#pace.room(connection.inFlight, this.#tools.timers.now());
  }

  #open(dialect: Dialect<P, R>): WireConnection<P, R> {
    const { bindSeconds, enquireSeconds, inactivitySeconds, responseSeconds } = this.#settings;
    const events = {
      changed: () => this.#report(),
      ended: (end: SessionEnd) => this.#events.sessionEnded(describeEnd(end, dialect.name)),
      deliver: (packet: P, frame: Buffer) => this.#deliver(dialect, packet, frame),
    };
    const times = {
      bindMs: bindSeconds * 1000,
      enquireMs: enquireSeconds * 1000,
      inactivityMs: inactivitySeconds * 1000,
      responseMs: responseSeconds * 1000,
    };
    return new WireConnection({ dialect, address: this.#settings, times, tools: this.#tools, events });
  }

  #exchange(
    { dialect }: WireConnection<P, R>,
    session: WireSession<P, R>,
    request: R,
    partId: number,
  ): Promise<WireAnswer<P>> {
    return session.submit(request, (packet) => this.#events.lateAnswer(partId, dialect.outcomeOf(packet)));
  }

  /** Applies an answer to the connector's pace and wakes the engine if there is room. */
  #heed(outcome: SubmitOutcome, session: WireSession<P, R>): void {
    const kind = outcome.kind === 'refused' ? outcome.class : outcome.kind === 'uncertain' ? outcome.reason : 'taken';
    if (kind === 'throttled' || kind === 'timeout') this.#pause(kind);
    else if (kind !== 'disconnected') this.#pace.taken();
    // Not awaited: leaving waits for the responses of other parts. The connection then opens a new session.
    if (kind === 'rebind') void session.leave();
    if (this.#inFlight === 0) this.#isEmpty?.();
    this.#report();
  }

  /** A timeout is treated as throttling: the carrier is overloaded. */
  #pause(reason: 'throttled' | 'timeout'): void {
    const pauseMs = this.#pace.throttled(this.#tools.timers.now());
    if (pauseMs === undefined || this.#isClosing) return;
    this.#tools.log.info(
      { carrier: this.#settings.host, reason, pauseMs },
      'carrier is throttling; pausing before sending more',
    );
    this.#cancelPause = this.#tools.timers.after(pauseMs, () => this.#report());
  }

  async #deliver(dialect: Dialect<P, R>, packet: P, frame: Buffer): Promise<boolean> {
    try {
      const delivery = dialect.readDelivery(packet, frame);
      if (delivery?.kind === 'receipt') await this.#events.receipt(delivery.receipt);
      else if (delivery?.kind === 'reply') await this.#events.reply(delivery.message);
      else if (delivery !== undefined) await this.#events.unread(delivery.unread);
      this.#noteStored();
      return true;
    } catch (error) {
      this.#noteUnstored(error);
      return false;
    }
  }

  /** Logs only the first failure in a row: there may be thousands, and each message is sent again. */
  #noteUnstored(error: unknown): void {
    this.#unstored += 1;
    if (this.#unstored > 1) return;
    const { log } = this.#tools;
    log.warn(
      { carrier: this.#settings.host, err: error },
      'cannot store receipts and replies of the carrier; they are not acknowledged',
    );
  }

  #noteStored(): void {
    if (this.#unstored === 0) return;
    const facts = { carrier: this.#settings.host, refused: this.#unstored };
    this.#tools.log.info(facts, 'receipts and replies of the carrier are being stored again');
    this.#unstored = 0;
  }

  #report(): void {
    const { state, isReceiving } = this;
    const hasRoom = this.room > 0;
    const before = this.#reported;
    this.#reported = { state, isReceiving, hasRoom };
    if (state !== before.state || isReceiving !== before.isReceiving) this.#events.stateChanged(state);
    if (hasRoom && !before.hasRoom) this.#events.roomFreed();
  }

  async #lastAnswers(): Promise<void> {
    if (this.#inFlight === 0) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#isEmpty = resolve;
    const cancel = this.#tools.timers.after(LAST_ANSWERS_MS, resolve);
    await promise;
    cancel();
  }
}

function receives<P, R extends WireRequest>({ dialect, session }: WireConnection<P, R>): boolean {
  return dialect.receives && session !== undefined;
}

function outcomeOf<P, R extends WireRequest>(answer: WireAnswer<P>, dialect: Dialect<P, R>): SubmitOutcome {
  return answer.kind === 'answered' ? dialect.outcomeOf(answer.packet) : { kind: 'uncertain', reason: answer.kind };
}
