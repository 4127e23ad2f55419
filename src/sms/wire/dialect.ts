/**
 * What the connection to a carrier must know of its protocol. `wire/` has octets, time, and requests that wait for their
 * answer; each protocol has its packets (`P`), its requests (`R`) and what they mean. docs/decisions/0750
 */
import type { MobileOriginated, PartToSubmit, Receipt, SubmitOutcome, Unread } from '../carrier.ts';
import type { FrameLimits } from './frames.ts';

/** Names a request until its answer arrives: a sequence number, or a longer one in hexadecimal. */
export type SequenceKey = number | string;

/** A request of ours, less its sequence. */
export interface WireRequest {
  readonly kind: 'request';
  /** Name of the command, such as `submitSm`. */
  readonly command: string;
}

/** A part that no carrier would take. */
export type Impossible = Extract<SubmitOutcome, { kind: 'refused' }>;

/**
 * `answer`: to a request of ours. `delivery`: a receipt, a reply, or what stands for one. `alive`: asks whether we are
 * there. `bye`: ends the session. `other`: anything else, also what cannot be read.
 */
export type PacketKind = 'answer' | 'delivery' | 'alive' | 'bye' | 'other';

/** `again`: the delivery could not be stored. `early`: there is no session yet, or no more. */
export type DeliveryVerdict = 'done' | 'again' | 'early';

export type Welcome =
  /** `warning`: what is wrong with the answer, for operators. */
  | { readonly kind: 'welcome'; readonly warning?: string }
  /** `reason`: in words. `isLasting`: trying again soon does not help, or does harm. */
  | { readonly kind: 'refused'; readonly reason: string; readonly isLasting: boolean };

export type Delivery =
  | { readonly kind: 'receipt'; readonly receipt: Receipt }
  | { readonly kind: 'reply'; readonly message: MobileOriginated }
  | { readonly kind: 'unread'; readonly unread: Unread };

/** Makes the sequences of one session. Throws nothing. `isTaken`: whether a request in flight has it. */
export type Sequences<R> = (request: R, isTaken: (key: SequenceKey) => boolean) => SequenceKey;

/** One for each connection of a connector. It has no state of a session. */
export interface Dialect<P, R extends WireRequest> {
  /** Name of the protocol, such as `CMPP 3.0`. */
  readonly name: string;
  /** What the session is for, for the log, such as `bindReceiver`; absent: all sessions are alike. */
  readonly role?: string;
  readonly frames: FrameLimits;
  /** Whether parts go out by its sessions, and whether receipts and replies come in. */
  readonly sends: boolean;
  readonly receives: boolean;

  /** Reads a whole frame, as far as it goes. Never throws. */
  decode(frame: Buffer): P;
  kindOf(packet: P): PacketKind;
  /** The sequence of a packet. */
  keyOf(packet: P): SequenceKey;
  /** Whether an `answer` may be that to a request with this command. */
  answers(packet: P, command: string): boolean;

  sequences(): Sequences<R>;
  /** Throws a RangeError if a value does not fit its field. */
  encode(request: R, key: SequenceKey): Buffer;

  /** The first request of a session. */
  login(): R;
  welcome(answer: P): Welcome;
  /** Sent after silence; absent: the protocol has none, and its sessions may be silent. */
  readonly alive?: R;
  readonly bye: R;
  /** The answer to a packet of the carrier that is no `answer`; `undefined`: it gets none. */
  answerTo(packet: P, verdict: DeliveryVerdict): Buffer | undefined;
  /** Sent before a session with an impossible frame is closed. */
  readonly complaint?: Buffer;

  compose(part: PartToSubmit): R | Impossible;
  /** What an `answer` to a composed part means: `accepted` or `refused`. */
  outcomeOf(answer: P): SubmitOutcome;
  /** What a `delivery` says; `undefined`: nothing that is kept. `frame`: its octets as received. */
  readDelivery(packet: P, frame: Buffer): Delivery | undefined;
}
