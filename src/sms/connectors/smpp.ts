/**
 * The connector to a carrier that speaks SMPP 3.4: a transceiver session, or a pair of a transmitter and a receiver.
 */
import type { SmppSettings } from '#model/sms-connector.ts';
import type {
  Carrier,
  CarrierEvents,
  CarrierState,
  CarrierTools,
  ConnectCarrier,
  PartToSubmit,
  SubmitOutcome,
} from '../carrier.ts';
import { answerKeys } from '../smpp/carrier-id.ts';
import { type ComposedPdu, composeSubmit } from '../smpp/compose.ts';
import { readDelivery } from '../smpp/delivery.ts';
import type { Pdu } from '../smpp/layouts.ts';
import { Pace } from '../smpp/pace.ts';
import type { PduAnswer } from '../smpp/pending.ts';
import type { BindCommand, Deliver, SessionEnd, SmppSession } from '../smpp/session.ts';
import { describeEnd } from '../smpp/session-end.ts';
import { SmppConnection } from '../smpp/smpp-connection.ts';
import { refusalClassOf, STATUS } from '../smpp/statuses.ts';

export const connectSmpp: ConnectCarrier<SmppSettings> = (settings, events, tools) =>
  new SmppCarrier(settings, events, tools);

/** How long responses are awaited when the connector is closed. */
const LAST_ANSWERS_MS = 5_000;

class SmppCarrier implements Carrier {
  readonly #settings: SmppSettings;
  readonly #events: CarrierEvents;
  readonly #tools: CarrierTools;
  readonly #pace: Pace;
  /** Sessions: the first sends, the last receives (the same one for a transceiver). */
  readonly #connections: readonly SmppConnection[];
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

  constructor(settings: SmppSettings, events: CarrierEvents, tools: CarrierTools) {
    this.#settings = settings;
    this.#events = events;
    this.#tools = tools;
    this.#pace = new Pace(settings.window);
    const commands: readonly BindCommand[] =
      settings.bind === 'pair' ? ['bindTransmitter', 'bindReceiver'] : ['bindTransceiver'];
    this.#connections = commands.map((command) => this.#open(command));
  }

  get room(): number {
    if (this.state !== 'bound') return 0;
    return this.#pace.room(this.#inFlight, this.#tools.timers.now());
  }

  get state(): CarrierState {
    if (this.#isClosing) return 'closed';
    if (this.#session === undefined) return 'connecting';
    return this.#pace.isPaused(this.#tools.timers.now()) ? 'paused' : 'bound';
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get isReceiving(): boolean {
    return !this.#isClosing && this.#connections.at(-1)?.session !== undefined;
  }

  async submit(part: PartToSubmit): Promise<SubmitOutcome> {
    const session = this.#session;
    if (session === undefined || this.room === 0) return { kind: 'unsent', reason: this.state };
    const composed = composeSubmit(part, this.#settings);
    if (composed.kind === 'impossible')
      return { kind: 'refused', status: composed.status, class: refusalClassOf(composed.status) };
    this.#inFlight += 1;
    this.#report();
    const answer = await this.#exchange(session, composed, part.partId);
    this.#inFlight -= 1;
    const outcome = this.#outcomeOf(answer);
    this.#heed(outcome, session);
    return outcome;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#cancelPause?.();
    this.#report();
    await this.#lastAnswers();
    await Promise.all(this.#connections.map((connection) => connection[Symbol.asyncDispose]()));
  }

  get #session(): SmppSession | undefined {
    return this.#connections[0]?.session;
  }

  #open(command: BindCommand): SmppConnection {
    const events = {
      changed: () => this.#report(),
      ended: (end: SessionEnd) => this.#events.sessionEnded(describeEnd(end)),
      deliver: (delivery: Deliver) => this.#deliver(delivery),
    };
    return new SmppConnection({ settings: this.#settings, command, tools: this.#tools, events });
  }

  #exchange(
    session: SmppSession,
    composed: Extract<ComposedPdu, { kind: 'submit' }>,
    partId: number,
  ): Promise<PduAnswer> {
    return session.submit(composed.fields, composed.tlvs, (pdu) => {
      this.#events.lateAnswer(partId, this.#answered(pdu));
    });
  }

  #outcomeOf(answer: PduAnswer): SubmitOutcome {
    return answer.kind === 'answered' ? this.#answered(answer.pdu) : { kind: 'uncertain', reason: answer.kind };
  }

  #answered(pdu: Pdu): SubmitOutcome {
    const { status } = pdu;
    if (pdu.command !== 'submitSmResp' || status !== STATUS.ok)
      return { kind: 'refused', status, class: refusalClassOf(status) };
    const { messageId } = pdu.fields;
    return { kind: 'accepted', carrierId: messageId, keys: answerKeys(messageId, this.#settings.receiptIds) };
  }

  /** Applies an answer to the connector's pace and wakes the engine if there is room. */
  #heed(outcome: SubmitOutcome, session: SmppSession): void {
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

  async #deliver(deliver: Deliver): Promise<boolean> {
    try {
      const delivery = readDelivery(deliver, this.#settings);
      if (delivery.kind === 'receipt') await this.#events.receipt(delivery.receipt);
      else if (delivery.kind === 'reply') await this.#events.reply(delivery.message);
      else await this.#events.unread(delivery.unread);
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
