/** The engine's interface to a connection to a carrier. `connectors/` implements it, most with `wire/` and a dialect. */
import type { ClaimedPart } from '#db/tables/sms/claim.ts';
import type { StoredReceipt } from '#db/tables/sms/receipts.ts';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';

/** `connecting`: also between two sessions. `paused`: the carrier is throttling. */
export type CarrierState = 'connecting' | 'bound' | 'paused' | 'closed';

export interface Carrier extends AsyncDisposable {
  /** Free window: parts that may be sent now. 0 while unbound or paused, or while the window is full. */
  readonly room: number;
  readonly state: CarrierState;
  /** Parts that were sent and have no answer yet. */
  readonly inFlight: number;
  /**
   * Whether receipts and replies can arrive. If they have a session of their own, it may be down while parts are sent.
   */
  readonly isReceiving: boolean;
  /**
   * Whether the parts of a message must go out together: some gateways answer none of them before they have them all.
   */
  readonly wholeMessages: boolean;
  /**
   * Sends a part. Never rejects: resolves with the carrier's response, with `uncertain` if the connection or the time
   * limit ended first, or with `unsent` if no byte was sent, such as when there is no room.
   */
  submit(part: PartToSubmit): Promise<SubmitOutcome>;
}

/** A claimed part, less what only the queue needs. */
export interface PartToSubmit
  extends Omit<
    ClaimedPart,
    'id' | 'messageId' | 'appId' | 'accountId' | 'tries' | 'priority' | 'route' | 'dueAt' | 'expireAt'
  > {
  readonly partId: number;
  /** Number or name that the phone shows; may be empty. */
  readonly sender: string;
  /** Texts of the parts of its message that are submitted together, its own among them. */
  readonly texts: readonly string[];
  /** Parts of its message that are submitted right after it. */
  readonly partsLeft: number;
  /** Absent: the carrier's default. */
  readonly validitySeconds?: number;
}

/**
 * `permanent`: this message. `rebind`: the carrier no longer knows the session; a new one is opened. `misconfigured`: the
 * settings of the connector, so that other messages are refused too.
 */
export type RefusalClass = 'permanent' | 'transient' | 'throttled' | 'rebind' | 'misconfigured';

export type SubmitOutcome =
  | {
      readonly kind: 'accepted';
      /** Message id as the carrier wrote it; empty if there is none. */
      readonly carrierId: string;
      /**
       * Forms of the id. The first is stored with the part: a receipt belongs to the part whose stored key is among the
       * receipt's keys. A receipt that arrived before this response is found by any of them. Empty if there is no id.
       */
      readonly keys: readonly string[];
    }
  /** Outcome of the loopback connector: the part did not reach a carrier. */
  | { readonly kind: 'simulated' }
  /** `status`: the carrier's code in the form in which it is stored, such as `0x0000000b`. */
  | { readonly kind: 'refused'; readonly status: string; readonly class: RefusalClass }
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

/** A carrier's report about a part, in the form in which it is stored. */
export interface Receipt extends Omit<StoredReceipt, 'connectorId' | 'carrierKeys' | 'state' | 'error'> {
  /** Message id as the carrier wrote it; empty if there is none. */
  readonly carrierId: string;
  /** Keys in order of preference; see `SubmitOutcome`. A receipt that matches nothing yet is stored under the first. */
  readonly keys: readonly string[];
  readonly state: ReceiptState;
  /** False if another receipt will follow: then this one does not end a part, whatever its state. */
  readonly isFinal: boolean;
}

/** Our reference of a part, which some carriers return: `value` is the part's id modulo 2^`bits`. */
export interface PartReference {
  readonly value: number;
  readonly bits: number;
}

/** Message from a phone. The parts of a long one arrive separately. docs/decisions/0205 */
export interface MobileOriginated {
  /** Sender in E.164, or as the carrier wrote it if it is not a phone number. */
  readonly origin: string;
  /** Destination as the carrier wrote it. */
  readonly destination: string;
  /** Decoded text of `octets`, or `hex:` and their digits if they are not text. */
  readonly text: string;
  readonly isText: boolean;
  /** Number of the alphabet in the carrier's protocol; in SMPP, data_coding. */
  readonly coding: number;
  /** Content without a user data header; an opt-out is looked for in every alphabet that it may be in. */
  readonly octets: Buffer;
  readonly concatenation?: Concatenation;
}

/** `cut`: the PDU ends before its text. `empty`: a receipt or an acknowledgement without content. */
export type UnreadReason = 'cut' | 'empty';

/** A message from the carrier that cannot be parsed. */
export interface Unread {
  readonly reason: UnreadReason;
  /** The protocol's name of the command, such as `deliver_sm`. */
  readonly command: string;
  /** The whole PDU as received. */
  readonly octets: Buffer;
}

export interface Concatenation {
  readonly reference: number;
  /** Number of the part, from 1. */
  readonly part: number;
  readonly parts: number;
}

export interface CarrierEvents {
  /** Resolves when the receipt is stored; only then is it acknowledged. If it rejects, the carrier sends it again. */
  receipt(receipt: Receipt): Promise<void>;
  /** Like `receipt`. */
  reply(message: MobileOriginated): Promise<void>;
  /** Like `receipt`. */
  unread(unread: Unread): Promise<void>;
  /** Notified of the response to a part that was `uncertain` after a timeout: `accepted` or `refused`. */
  lateAnswer(partId: number, outcome: SubmitOutcome): void;
  /** Notified of each change of state, and when receiving starts or stops. */
  stateChanged(state: CarrierState): void;
  /** Notified when a session was refused, could not be opened, or has ended; another is tried. */
  sessionEnded(reason: string): void;
  /** Notified when the window, which was full, has room again. */
  roomFreed(): void;
}

export interface CarrierTools {
  readonly log: Logger;
  readonly timers: Timers;
  readonly clock: Clock;
  /** 0 ≤ random() < 1 */
  random(): number;
}

/** Begins to connect and returns at once. Retries until it is disposed of. */
export type ConnectCarrier<Settings> = (settings: Settings, events: CarrierEvents, tools: CarrierTools) => Carrier;
