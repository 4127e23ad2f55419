/** What the engine knows of a way to a carrier; `connectors/` and, behind one of them, `smpp/` are the other side of it. */
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';

/** `connecting`: also between two sessions. `paused`: the carrier asked for less. */
export type CarrierState = 'connecting' | 'bound' | 'paused' | 'closed';

export interface Carrier extends AsyncDisposable {
  /** Parts that it is able to take now: 0 while not bound, paused, or waiting for as many answers as it may. */
  readonly room: number;
  readonly state: CarrierState;
  /** Receipts and replies come; where a session of its own brings them, it may be down while parts go out. */
  readonly isReceiving: boolean;
  /**
   * Never rejects, and settles once: with the carrier's answer, with `uncertain` when the connection or the time ended first,
   * or with `unsent` when no byte of it went out. More than there is room for is `unsent`.
   */
  submit(part: PartToSubmit): Promise<SubmitOutcome>;
}

export interface PartToSubmit {
  readonly partId: number;
  /** E.164: `+` and digits. */
  readonly destination: string;
  /** Empty: the connector's own. */
  readonly sender: string;
  readonly text: string;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly parts: number;
  /** 0 to 255; the same for all parts of a message. */
  readonly reference: number;
  /** Absent: as long as the carrier likes. */
  readonly validitySeconds?: number;
}

/** `rebind`: the carrier does not know the session any more; it is opened anew. */
export type RefusalClass = 'permanent' | 'transient' | 'throttled' | 'rebind';

export type SubmitOutcome =
  | {
      readonly kind: 'accepted';
      /** Id as the carrier wrote it; empty when it gave none. */
      readonly carrierId: string;
      /**
       * The first is stored with the part. A receipt belongs to the part whose stored key is among the receipt's keys, and one
       * that came before this answer is found by any of these. Empty when there is no id.
       */
      readonly keys: readonly string[];
    }
  /** The loopback connector only: no carrier has it. */
  | { readonly kind: 'simulated' }
  | { readonly kind: 'refused'; readonly status: number; readonly class: RefusalClass }
  | { readonly kind: 'uncertain'; readonly reason: 'timeout' | 'disconnected' }
  | { readonly kind: 'unsent'; readonly reason: string };

export type ReceiptState =
  | 'enroute'
  | 'accepted'
  | 'delivered'
  | 'undelivered'
  | 'expired'
  | 'deleted'
  | 'rejected'
  | 'unknown';

export interface Receipt {
  /** Id as the carrier wrote it; empty when it gave none. */
  readonly carrierId: string;
  /** Keys in order of preference; see `SubmitOutcome`. A receipt that matches nothing yet is stored under the first. */
  readonly keys: readonly string[];
  /** So many of the last of them are equally likely: forms of one id whose writing nobody knows; absent: none. */
  readonly equalKeys?: number;
  readonly state: ReceiptState;
  /** False: another receipt follows, so this one ends no part whatever its state is. */
  readonly isFinal: boolean;
  /** The carrier's word as it came, such as `DELIVRD`, `UNDELIV/027` or `MK:0012`: printable ASCII, at most 40 characters; empty: none. */
  readonly word: string;
  /** Where the message went: E.164 when the address can be read so, else as the carrier wrote it. */
  readonly destination: string;
  /** The same number, E.164 with `+`; absent: the receipt names none that can be read. */
  readonly number?: string;
  /** Instant by the carrier's clock. Absent: the receipt has none, or it cannot be read. */
  readonly submittedAt?: number;
  readonly doneAt?: number;
  /** Absent: the carrier does not return it. */
  readonly reference?: PartReference;
  /** What was received, for people. */
  readonly raw: string;
}

/** Our reference of a part, which some carriers return: `value` is the part's id modulo 2^`bits`. */
export interface PartReference {
  readonly value: number;
  readonly bits: number;
}

/** What a phone sent; a long one comes in parts, each by itself. docs/decisions/0205 */
export interface MobileOriginated {
  /** E.164 when the address can be read so, else as the carrier wrote it. */
  readonly origin: string;
  /** The number it was sent to, as the carrier wrote it. */
  readonly destination: string;
  /** What `octets` say; `hex:` and their digits where they are no text. */
  readonly text: string;
  readonly isText: boolean;
  /** The alphabet by the carrier's number; SMPP: data_coding. */
  readonly coding: number;
  /** Content without a user data header; an opt-out is looked for in every alphabet that it may be in. */
  readonly octets: Buffer;
  readonly concatenation?: Concatenation;
}

/** `cut`: it ends before its text. `empty`: a receipt or an acknowledgement that says nothing. */
export type UnreadReason = 'cut' | 'empty';

/** What the carrier delivered and nobody can read. */
export interface Unread {
  readonly reason: UnreadReason;
  /** The standard's name of it, such as `deliver_sm`. */
  readonly command: string;
  /** All of it, as it came. */
  readonly octets: Buffer;
}

export interface Concatenation {
  readonly reference: number;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly parts: number;
}

export interface CarrierEvents {
  /** Resolves when it is stored: only then the carrier is told so. When it rejects, the carrier sends it again. */
  receipt(receipt: Receipt): Promise<void>;
  /** Like `receipt`. */
  reply(message: MobileOriginated): Promise<void>;
  /** Like `receipt`. */
  unread(unread: Unread): Promise<void>;
  /** The answer to a part that had been given up as `uncertain` by time; `accepted` or `refused`. */
  lateAnswer(partId: number, outcome: SubmitOutcome): void;
  /** Also when it receives again, or no more. */
  stateChanged(state: CarrierState): void;
  /** A session was refused, could not be had, or has ended, for people; another one is tried. */
  sessionEnded(reason: string): void;
  /** There is room again where there was none. */
  roomFreed(): void;
}

export interface CarrierTools {
  readonly log: Logger;
  readonly timers: Timers;
  /** 0 ≤ random() < 1 */
  random(): number;
}

/** Begins to connect and returns at once; a carrier that cannot be reached is tried again until it is disposed of. */
export type ConnectCarrier<Settings> = (settings: Settings, events: CarrierEvents, tools: CarrierTools) => Carrier;
