/**
 * The tables of the SMS service as Kysely sees them. Amounts are in the smallest unit of the currency; see `schema.ts`.
 */
import type { Generated } from 'kysely';

export interface SmsTables {
  sms_app: {
    id: Generated<number>;
    account_id: number;
    app_key: string;
    name: string;
    /** 0 or 1 */
    enabled: number;
    created_at: number;
    /** JSON: `SmsAppSettings`; a missing member has its default. */
    settings: string;
  };
  /** Result of an update of an app's status, for a repetition of the same request. */
  sms_app_change: {
    replay_hash: string;
    /** 0 or 1 */
    enabled: number;
    created_at: number;
  };
  /** What an account has left: always the sum of its ledger. */
  sms_balance: {
    account_id: number;
    balance: number;
  };
  /** Nothing here is ever changed or deleted. */
  sms_ledger: {
    id: Generated<number>;
    account_id: number;
    /** Absent: no part is behind it, as with `recharge`. */
    part_id: number | null;
    kind: string;
    /** Amount; below 0 it left the balance. A charge is 0: the hold has taken it already. */
    amount: number;
    created_at: number;
    /** Reference of a recharge: one with the same reference is not added again. */
    reference: Generated<string | null>;
  };
  /** Price per part and kind of message; the longest prefix counts. */
  sms_price: {
    kind: string;
    prefix: string;
    price: number;
  };
  sms_request: {
    id: Generated<number>;
    sendid: string;
    account_id: number;
    app_id: number;
    kind: string;
    sms_type: number;
    created_at: number;
    /** Hash by which a repetition is recognised. */
    replay_hash: string;
  };
  /** One number of a request. */
  sms_message: {
    id: Generated<number>;
    request_id: number;
    account_id: number;
    app_id: number;
    kind: string;
    sms_type: number;
    /** E.164 with `+` */
    destination: string;
    parts: number;
    /** Price of each part. */
    price: number;
    /** 0 to 255; all parts of the message bear it. */
    reference: number;
    /** The connector that its parts go over, once the first has; only where there are several. */
    connector_id: number | null;
    created_at: number;
  };
  sms_part: {
    id: Generated<number>;
    message_id: number;
    /** Account of its message; 0: the part had ended before this column existed. */
    account_id: Generated<number>;
    /** Number of the part, from 1. */
    n: number;
    text: string;
    state: string;
    /** Prefix of the route that it waits for. */
    route: string;
    /** Low goes first. */
    priority: number;
    due_at: number;
    /** Instant after which the part is not sent. */
    expire_at: number;
    /** Failures of carriers that count. */
    tries: number;
    /**
     * How often its bytes may have gone out without being refused: more than 1 is a repetition that the customer chose.
     */
    sends: number;
    connector_id: number | null;
    lease_owner: string | null;
    lease_until: number | null;
    carrier_id: string | null;
    /** The carrier's id in the form in which receipts are matched. */
    carrier_key: string | null;
    submitted_at: number | null;
    done_at: number | null;
    /** Why it failed or waits; empty: nothing is wrong. */
    error: string;
    /** What the carrier's receipts said last, as it came; empty: nothing yet. */
    last_word: Generated<string>;
    /**
     * Instant until which a part that is `unknown` by a word of its carrier accepts a better word; absent: it is
     * settled.
     */
    revisable_until: Generated<number | null>;
  };
  /** A try that failed or was repeated; a part that was accepted at once has its own columns. */
  sms_attempt: {
    id: Generated<number>;
    part_id: number;
    connector_id: number;
    sent_at: number;
    ended_at: number;
    outcome: string;
    error: string;
  };
  sms_receipt: {
    id: Generated<number>;
    connector_id: number;
    /** The message id in the form in which it is matched. */
    carrier_key: string;
    destination: string;
    /** The same as E.164 with `+`; absent: the receipt names no number that can be read. */
    number: string | null;
    /** Reference of its part, modulo 2^`reference_bits`, from carriers that return it. */
    reference: number | null;
    reference_bits: number | null;
    state: string;
    error: string;
    /** The carrier's word as it came. */
    word: Generated<string>;
    /** Text as the carrier sent it, for people. */
    raw: string;
    /** Instant by the carrier's clock; absent: the carrier named none. */
    submitted_at: number | null;
    done_at: number | null;
    received_at: number;
    /** Absent: nothing of ours is known that it speaks of. */
    part_id: number | null;
    /**
     * JSON: all forms of the message id, each a row of one, the likeliest first; of a receipt that found its part at
     * once none.
     */
    carrier_keys: Generated<string>;
    /** So many of the last of them are equally likely. */
    equal_keys: Generated<number>;
    /**
     * Why it has no part: `number`, `ambiguous`, with ` reported` behind it once the metric counts it; empty: nothing
     * fits.
     */
    unmatched: Generated<string>;
  };
  sms_reply: {
    id: Generated<number>;
    connector_id: number;
    /** Absent if no account has written to that number. */
    app_id: number | null;
    account_id: number | null;
    origin: string;
    text: string;
    received_at: number;
    /** Reference of a long reply, which comes in parts; absent: it is whole. */
    reference: number | null;
    /** Number of the part, from 1. */
    part: number | null;
    parts: number | null;
    /** The carrier's number of an alphabet that cannot be read, `text` then has the octets; absent: it is text. */
    coding: Generated<number | null>;
  };
  /** A message of a carrier that could not be parsed. */
  sms_unread: {
    id: Generated<number>;
    connector_id: number;
    reason: string;
    command: string;
    /** Two hexadecimal digits each. */
    octets: string;
    received_at: number;
  };
  sms_opt_out: {
    /** 0: of everybody. */
    account_id: number;
    number: string;
    created_at: number;
  };
  sms_connector: {
    id: Generated<number>;
    name: string;
    kind: string;
    /** 0 or 1 */
    enabled: number;
    /** JSON: `ConnectorSettings` without the password. */
    settings: string;
    /** The password, sealed. */
    secret: string | null;
    /** Absent: as fast as the carrier answers. */
    parts_per_second: number | null;
    changed_at: number;
  };
  sms_route: {
    /** Digits with `+`; empty: every number. */
    prefix: string;
    /** The lowest is preferred. */
    position: number;
    connector_id: number;
  };
  /** What is to be posted to a customer's address. */
  sms_delivery: {
    id: Generated<number>;
    app_id: number;
    kind: string;
    /** JSON. */
    body: string;
    due_at: number;
    tries: number;
    created_at: number;
    error: string;
  };
}
