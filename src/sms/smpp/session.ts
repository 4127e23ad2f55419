/**
 * One SMPP session with a carrier, from bind to unbind, over any transport. Only an impossible command_length ends it,
 * never the content of a PDU. Requests in flight are settled when it ends. docs/decisions/0420
 */
import type { Timers } from '#lib/timers.ts';
import { decodePdu } from './decode.ts';
import { encodePdu } from './encode.ts';
import { FrameReader } from './frames.ts';
import { type Command, type Fields, LAYOUTS, type Pdu, type PduOf, RESPONSE_BIT, type Tlv } from './layouts.ts';
import { type PduAnswer, PendingRequests } from './pending.ts';
import { STATUS } from './statuses.ts';

/** The connection below. If it has failed already, its methods do nothing. */
export interface Transport {
  write(octets: Buffer): void;
  /** Closes the connection after the written octets are sent. */
  end(): void;
}

export type BindCommand = 'bindTransceiver' | 'bindTransmitter' | 'bindReceiver';
type DeliverPdu = PduOf<'deliverSm'> | PduOf<'dataSm'>;

export interface Deliver {
  readonly pdu: DeliverPdu;
  /** The whole PDU as received. */
  readonly frame: Buffer;
  /** Name of the mandatory field before which the PDU ends. */
  readonly missing?: string;
}

interface SessionTimes {
  /** Limit from the start of connecting until the carrier has answered the bind. */
  readonly bindMs: number;
  /** Silence of the carrier after which an enquire_link is sent; after `inactivityMs` the session has ended. */
  readonly enquireMs: number;
  readonly inactivityMs: number;
  readonly responseMs: number;
}

export interface SmppSessionOptions {
  readonly command: BindCommand;
  readonly bind: Fields<BindCommand>;
  readonly times: SessionTimes;
  readonly timers: Timers;
  readonly transport: Transport;
  readonly events: SessionEvents;
  /** The sequence number before the first; 0 unless a test wants to see them wrap. */
  readonly previousSequence?: number;
}

interface SessionEvents {
  bound(): void;
  /** Returns whether the delivery is stored; if not, the carrier is asked to send it again. Never rejects. */
  deliver(delivery: Deliver): Promise<boolean>;
  /** Notified once, as the last event. */
  ended(end: SessionEnd): void;
}

/** `silent`: no PDU arrived, or no response to any request. `unbound`: ended by the carrier. `left`: ended by us. */
export type SessionEnd =
  | { readonly kind: 'refused'; readonly status: number }
  | { readonly kind: 'malformed'; readonly reason: string }
  | { readonly kind: 'closed'; readonly reason: string }
  | { readonly kind: 'bindTimeout' | 'silent' | 'unbound' | 'left' };

/** Time from the carrier's unbind to ours. */
const LAST_ANSWERS_MS = 5_000;
/** Limit of deliveries that are being stored. More are refused, and the carrier sends them again. */
const MAX_DELIVERIES = 1_000;

type Request = BindCommand | 'submitSm' | 'enquireLink' | 'unbind';
type Phase = 'connecting' | 'binding' | 'bound' | 'leaving' | 'ended';

export class SmppSession {
  readonly #options: SmppSessionOptions;
  readonly #frames = new FrameReader();
  readonly #pending: PendingRequests;
  #phase: Phase = 'connecting';
  #heardAt: number;
  #deliveries = 0;
  #cancel: () => void;
  /** Ends the session; set when the carrier has sent unbind but still owes responses. */
  #goodbye: (() => void) | undefined;
  readonly #left = Promise.withResolvers<void>();

  constructor(options: SmppSessionOptions) {
    this.#options = options;
    const { timers, times } = options;
    this.#heardAt = timers.now();
    this.#cancel = timers.after(times.bindMs, () => this.#end({ kind: 'bindTimeout' }));
    this.#pending = new PendingRequests(timers, times.responseMs, options.previousSequence ?? 0, (sentAt) => {
      if (this.#heardAt < sentAt) this.#end({ kind: 'silent' });
    });
  }

  get isBound(): boolean {
    return this.#phase === 'bound';
  }

  /** Called when the connection is established. */
  opened(): void {
    if (this.#phase !== 'connecting') return;
    this.#phase = 'binding';
    const { command, bind } = this.#options;
    try {
      this.#ask(command, bind, [], (answer) => this.#takeBindAnswer(answer));
    } catch (error) {
      // The name or password is too long for a bind.
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

  /** Sends a submit_sm; only while `isBound`. `late` is called with a response that arrives after the `timeout`. */
  submit(fields: Fields<'submitSm'>, tlvs: readonly Tlv[], late: (pdu: Pdu) => void): Promise<PduAnswer> {
    const { promise, resolve } = Promise.withResolvers<PduAnswer>();
    this.#ask('submitSm', fields, tlvs, resolve, late);
    return promise;
  }

  /**
   * Sends unbind, and resolves when the session has ended. Until then, requests in flight still get their responses.
   */
  leave(): Promise<void> {
    if (this.#phase === 'ended') return Promise.resolve();
    if (this.#phase === 'bound') {
      this.#phase = 'leaving';
      this.#cancel();
      this.#cancel = this.#options.timers.after(this.#options.times.bindMs, () => this.#end({ kind: 'left' }));
      this.#ask('unbind', {}, [], () => this.#end({ kind: 'left' }));
    } else if (this.#phase !== 'leaving') {
      this.#end({ kind: 'left' });
    }
    return this.#left.promise;
  }

  #takeBindAnswer(answer: PduAnswer): void {
    if (answer.kind !== 'answered' || this.#phase !== 'binding') return;
    const { command, status } = answer.pdu;
    if (status !== STATUS.ok || command === 'genericNack') {
      this.#end({ kind: 'refused', status });
      return;
    }
    this.#phase = 'bound';
    this.#cancel();
    this.#watch();
    this.#options.events.bound();
  }

  #takeFrame(frame: Buffer): void {
    // An earlier PDU of the same octets ended the session.
    if (this.#phase === 'ended') return;
    const decoded = decodePdu(frame);
    this.#heardAt = this.#options.timers.now();
    if (decoded.kind === 'pdu') this.#take(decoded.pdu, frame, decoded.missing);
    // A response is never answered, or two peers could go on forever.
    else if (decoded.id < RESPONSE_BIT) this.#answer('genericNack', decoded.sequence, {}, STATUS.invalidCommand);
  }

  #take(pdu: Pdu, frame: Buffer, missing: string | undefined): void {
    switch (pdu.command) {
      case 'enquireLink':
        this.#answer('enquireLinkResp', pdu.sequence, {});
        break;
      case 'unbind':
        this.#takeUnbind(pdu.sequence);
        break;
      case 'deliverSm':
      case 'dataSm':
        // Never rejects.
        void this.#takeDelivery({ pdu, frame, ...(missing !== undefined && { missing }) });
        break;
      case 'alertNotification':
      case 'outbind':
        break; // these have no answer
      default:
        if (LAYOUTS[pdu.command].id >= RESPONSE_BIT) this.#takeAnswer(pdu);
        else this.#answer('genericNack', pdu.sequence, {}, STATUS.invalidCommand);
    }
  }

  #takeAnswer(pdu: Pdu): void {
    this.#pending.settle(pdu);
    if (this.#pending.count === 0) this.#goodbye?.();
  }

  /** Ends the session, after the carrier had time to respond to the requests in flight. */
  #takeUnbind(sequence: number): void {
    const goodbye = () => {
      this.#answer('unbindResp', sequence, {});
      this.#end({ kind: 'unbound' });
    };
    if (this.#phase !== 'bound' || this.#pending.count === 0) {
      goodbye();
      return;
    }
    this.#phase = 'leaving';
    this.#goodbye = goodbye;
    this.#cancel();
    this.#cancel = this.#options.timers.after(LAST_ANSWERS_MS, goodbye);
  }

  async #takeDelivery(delivery: Deliver): Promise<void> {
    const { pdu } = delivery;
    const status = await this.#store(delivery);
    const command = pdu.command === 'deliverSm' ? 'deliverSmResp' : 'dataSmResp';
    this.#answer(command, pdu.sequence, { messageId: '' }, status);
  }

  async #store(delivery: Deliver): Promise<number> {
    if (this.#phase !== 'bound' && this.#phase !== 'leaving') return STATUS.invalidBindState;
    if (this.#deliveries >= MAX_DELIVERIES) return STATUS.receiverTemporary;
    this.#deliveries += 1;
    const isStored = await this.#options.events.deliver(delivery);
    this.#deliveries -= 1;
    return isStored ? STATUS.ok : STATUS.receiverTemporary;
  }

  #watch(): void {
    const { timers, times } = this.#options;
    const silentMs = timers.now() - this.#heardAt;
    if (silentMs < times.enquireMs) {
      this.#cancel = timers.after(times.enquireMs - silentMs, () => this.#watch());
      return;
    }
    this.#ask('enquireLink', {}, [], () => {});
    const askedAt = timers.now();
    this.#cancel = timers.after(times.inactivityMs - times.enquireMs, () => {
      if (this.#heardAt < askedAt) this.#end({ kind: 'silent' });
      else this.#watch();
    });
  }

  #ask<C extends Request>(
    command: C,
    fields: Fields<C>,
    tlvs: readonly Tlv[],
    settle: (answer: PduAnswer) => void,
    late: (pdu: Pdu) => void = () => {},
  ): void {
    const sequence = this.#pending.add(`${command}Resp`, settle, late);
    this.#options.transport.write(encodePdu({ command, status: STATUS.ok, sequence, fields, tlvs }));
  }

  #answer<C extends Command>(command: C, sequence: number, fields: Fields<C>, status: number = STATUS.ok): void {
    if (this.#phase === 'ended') return;
    this.#options.transport.write(encodePdu({ command, status, sequence, fields, tlvs: [] }));
  }

  /** Ends the session: the start of the next PDU is unknown. */
  #refuseStream(reason: string): void {
    this.#answer('genericNack', 0, {}, STATUS.invalidCommandLength);
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
