/**
 * One session with a carrier, from login to goodbye, over any transport. Only an impossible length ends it, never the
 * content of a packet. Requests in flight are settled when it ends. docs/decisions/0420
 */
import type { Timers } from '#lib/timers.ts';
import type { DeliveryVerdict, Dialect, Sequences, WireRequest } from './dialect.ts';
import { FrameReader } from './frames.ts';
import { PendingRequests, type WireAnswer } from './pending.ts';

/** The connection below. If it has failed already, its methods do nothing. */
export interface Transport {
  write(octets: Buffer): void;
  /** Stops reading, or reads on. Octets that were read before still arrive. */
  hold(isHeld: boolean): void;
  /** Closes the connection after the written octets are sent. */
  end(): void;
}

export interface SessionTimes {
  /** Limit from the start of connecting until the carrier has answered the login. */
  readonly bindMs: number;
  /** Silence of the carrier after which it is asked whether it is there; after `inactivityMs` the session has ended. */
  readonly enquireMs: number;
  readonly inactivityMs: number;
  readonly responseMs: number;
}

export interface SessionOptions<P, R extends WireRequest> {
  readonly dialect: Dialect<P, R>;
  readonly times: SessionTimes;
  readonly timers: Timers;
  readonly transport: Transport;
  readonly events: SessionEvents<P>;
}

interface SessionEvents<P> {
  /** `warning`: what is wrong with the carrier's answer, if anything. */
  bound(warning: string | undefined): void;
  /** Returns whether the delivery is stored; if not, the carrier is asked to send it again. Never rejects. */
  deliver(packet: P, frame: Buffer): Promise<boolean>;
  /** Notified once, as the last event. */
  ended(end: SessionEnd): void;
}

/** `silent`: no packet arrived, or no answer to any request. `unbound`: ended by the carrier. `left`: ended by us. */
export type SessionEnd =
  | { readonly kind: 'refused'; readonly reason: string; readonly isLasting: boolean }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'bindTimeout' | 'silent' | 'unbound' | 'left' };

/** Time from the carrier's goodbye to ours. */
const LAST_ANSWERS_MS = 5_000;
/**
 * Backpressure: reading stops while so many deliveries are being stored. Those that were read before are stored too,
 * since some gateways never repeat an unanswered delivery.
 */
const MAX_DELIVERIES = 1_000;

type Phase = 'connecting' | 'binding' | 'bound' | 'leaving' | 'ended';

export class WireSession<P, R extends WireRequest> {
  readonly #options: SessionOptions<P, R>;
  readonly #dialect: Dialect<P, R>;
  readonly #frames: FrameReader;
  readonly #pending: PendingRequests<P>;
  readonly #sequences: Sequences<R>;
  readonly #isTaken = (key: string | number) => this.#pending.has(key);
  #phase: Phase = 'connecting';
  #heardAt: number;
  #deliveries = 0;
  #cancel: () => void;
  /** Ends the session; set when the carrier has said goodbye but answers are still due. */
  #goodbye: (() => void) | undefined;
  readonly #left = Promise.withResolvers<void>();

  constructor(options: SessionOptions<P, R>) {
    this.#options = options;
    const { dialect, timers, times } = options;
    this.#dialect = dialect;
    this.#frames = new FrameReader(dialect.frames);
    this.#sequences = dialect.sequences();
    this.#heardAt = timers.now();
    this.#cancel = timers.after(times.bindMs, () => this.#end({ kind: 'bindTimeout' }));
    this.#pending = new PendingRequests({
      timers,
      timeoutMs: times.responseMs,
      answers: (packet, command) => dialect.answers(packet, command),
      timedOut: (sentAt) => void this.#endIfSilentSince(sentAt),
    });
  }

  get isBound(): boolean {
    return this.#phase === 'bound';
  }

  /** Called when the connection is established. */
  opened(): void {
    if (this.#phase !== 'connecting') return;
    this.#phase = 'binding';
    try {
      this.#ask(this.#dialect.login(), (answer) => this.#takeLoginAnswer(answer));
    } catch (error) {
      // The name or password is too long for its field.
      this.#end({ kind: 'closed', reason: error instanceof Error ? error.message : String(error) });
    }
  }

  /** Called with octets from the carrier. */
  received(octets: Buffer): void {
    if (this.#phase === 'ended') return;
    const read = this.#frames.push(octets);
    for (const frame of read.frames) this.#takeFrame(frame);
    if (read.kind === 'malformed') this.#refuseStream(read.reason);
  }

  /** Called when the connection is closed or could not be opened. */
  closed(reason: string): void {
    const isOurs = this.#phase === 'leaving' && this.#goodbye === undefined;
    this.#end(isOurs ? { kind: 'left' } : { kind: 'closed', reason });
  }

  /** Sends a request; only while `isBound`. `late` is called with an answer that arrives after the `timeout`. */
  submit(request: R, late: (packet: P) => void): Promise<WireAnswer<P>> {
    const { promise, resolve } = Promise.withResolvers<WireAnswer<P>>();
    this.#ask(request, resolve, late);
    return promise;
  }

  /**
   * Says goodbye, and resolves when the session has ended. Until then, requests in flight still get their answers.
   */
  leave(): Promise<void> {
    if (this.#phase === 'ended') return Promise.resolve();
    if (this.#phase === 'bound') {
      this.#phase = 'leaving';
      this.#cancel();
      this.#cancel = this.#options.timers.after(this.#options.times.bindMs, () => this.#end({ kind: 'left' }));
      this.#ask(this.#dialect.bye, () => this.#end({ kind: 'left' }));
    } else if (this.#phase !== 'leaving') {
      this.#end({ kind: 'left' });
    }
    return this.#left.promise;
  }

  #takeLoginAnswer(answer: WireAnswer<P>): void {
    if (answer.kind !== 'answered' || this.#phase !== 'binding') return;
    const welcome = this.#dialect.welcome(answer.packet);
    if (welcome.kind === 'refused') {
      this.#end(welcome);
      return;
    }
    this.#phase = 'bound';
    this.#cancel();
    this.#watch();
    this.#options.events.bound(welcome.warning);
  }

  #takeFrame(frame: Buffer): void {
    // An earlier packet of the same octets ended the session.
    if (this.#phase === 'ended') return;
    const packet = this.#dialect.decode(frame);
    this.#heardAt = this.#options.timers.now();
    switch (this.#dialect.kindOf(packet)) {
      case 'answer':
        this.#takeAnswer(packet);
        break;
      case 'delivery':
        // Never rejects.
        void this.#takeDelivery(packet, frame);
        break;
      case 'bye':
        this.#takeGoodbye(packet);
        break;
      default:
        this.#answer(packet, 'done');
    }
  }

  #takeAnswer(packet: P): void {
    this.#pending.settle(this.#dialect.keyOf(packet), packet);
    if (this.#isQuiet) this.#goodbye?.();
  }

  /** Whether no request of either side waits for its answer. */
  get #isQuiet(): boolean {
    return this.#pending.count === 0 && this.#deliveries === 0;
  }

  /** Ends the session, after both sides had time to answer the requests in flight. */
  #takeGoodbye(packet: P): void {
    const goodbye = () => {
      this.#answer(packet, 'done');
      this.#end({ kind: 'unbound' });
    };
    if (this.#phase !== 'bound' || this.#isQuiet) {
      goodbye();
      return;
    }
    this.#phase = 'leaving';
    this.#goodbye = goodbye;
    this.#cancel();
    this.#cancel = this.#options.timers.after(LAST_ANSWERS_MS, goodbye);
  }

  async #takeDelivery(packet: P, frame: Buffer): Promise<void> {
    this.#answer(packet, await this.#store(packet, frame));
    if (this.#isQuiet) this.#goodbye?.();
  }

  async #store(packet: P, frame: Buffer): Promise<DeliveryVerdict> {
    if (this.#phase !== 'bound' && this.#phase !== 'leaving') return 'early';
    const { events, timers, transport } = this.#options;
    this.#deliveries += 1;
    if (this.#deliveries === MAX_DELIVERIES) transport.hold(true);
    const isStored = await events.deliver(packet, frame);
    if (this.#deliveries === MAX_DELIVERIES) {
      // What the carrier has sent meanwhile is read only now.
      this.#heardAt = timers.now();
      transport.hold(false);
    }
    this.#deliveries -= 1;
    return isStored ? 'done' : 'again';
  }

  #watch(): void {
    const { timers, times } = this.#options;
    const { alive } = this.#dialect;
    if (alive === undefined) return;
    const silentMs = timers.now() - this.#heardAt;
    if (silentMs < times.enquireMs) {
      this.#cancel = timers.after(times.enquireMs - silentMs, () => this.#watch());
      return;
    }
    this.#ask(alive, () => {});
    const askedAt = timers.now();
    this.#cancel = timers.after(times.inactivityMs - times.enquireMs, () => {
      if (!this.#endIfSilentSince(askedAt)) this.#watch();
    });
  }

  /** A carrier that is not read is not silent. Returns whether the session has ended. */
  #endIfSilentSince(at: number): boolean {
    const isSilent = this.#heardAt < at && this.#deliveries < MAX_DELIVERIES;
    if (isSilent) this.#end({ kind: 'silent' });
    return isSilent;
  }

  #ask(request: R, settle: (answer: WireAnswer<P>) => void, late: (packet: P) => void = () => {}): void {
    const key = this.#sequences(request, this.#isTaken);
    const octets = this.#dialect.encode(request, key);
    this.#pending.add(key, request.command, settle, late);
    this.#options.transport.write(octets);
  }

  #answer(packet: P, verdict: DeliveryVerdict): void {
    if (this.#phase === 'ended') return;
    const answer = this.#dialect.answerTo(packet, verdict);
    if (answer !== undefined) this.#options.transport.write(answer);
  }

  /** Ends the session: the start of the next packet is unknown. */
  #refuseStream(reason: string): void {
    if (this.#phase === 'ended') return;
    const { complaint } = this.#dialect;
    if (complaint !== undefined) this.#options.transport.write(complaint);
    this.#end({ kind: 'malformed', reason });
  }

  #end(end: SessionEnd): void {
    if (this.#phase === 'ended') return;
    this.#phase = 'ended';
    this.#cancel();
    this.#options.transport.end();
    this.#pending.end();
    this.#options.events.ended(end);
    this.#left.resolve();
  }
}
