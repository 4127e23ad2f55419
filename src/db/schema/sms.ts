/** The tables of the SMS service. Amounts are in the smallest unit of the currency; see `schema.ts`. */
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
  /** Result of a status change of an app, for repetitions of the same request. */
  sms_app_change: {
    replay_hash: string;
    /** 0 or 1 */
    enabled: number;
    created_at: number;
  };
  /** Balance of an account: always the sum of its ledger. */
  sms_balance: {
    account_id: number;
    balance: number;
  };
  /** Rows are never changed or deleted. */
  sms_ledger: {
    id: Generated<number>;
    account_id: number;
    /** `null` for entries without a part, such as `recharge`. */
    part_id: number | null;
    kind: string;
    /** Change of the balance. A charge is 0, since the hold has reduced the balance. */
    amount: number;
    created_at: number;
    /** Reference of a recharge, which prevents a repetition. */
    reference: Generated<string | null>;
  };
  /** Price per part, by kind and prefix; the longest matching prefix applies. */
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
    /** Identifies a repeated request. */
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
    /** 0 to 255; the same for all parts of the message. */
    reference: number;
    /** Connector that sends all parts, once it has taken the first; only for messages of several parts. */
    connector_id: number | null;
    created_at: number;
  };
  sms_part: {
    id: Generated<number>;
    message_id: number;
    /** Account of the message; 0 if the part had ended before this column existed. */
    account_id: Generated<number>;
    /** Number of the part, from 1. */
    n: number;
    text: string;
    state: string;
    /** Prefix of the route that the part waits for. */
    route: string;
    /** Lower values are sent first. */
    priority: number;
    due_at: number;
    /** Instant after which the part is not sent. */
    expire_at: number;
    /** Number of failures at carriers that count. */
    tries: number;
    /** How often it may have been sent without being refused; more than 1 is a repetition that the customer chose. */
    sends: number;
    connector_id: number | null;
    lease_owner: string | null;
    lease_until: number | null;
    carrier_id: string | null;
    /** The carrier's id in the form in which receipts are matched. */
    carrier_key: string | null;
    submitted_at: number | null;
    done_at: number | null;
    /** Why it failed or waits; empty if there is no error. */
    error: string;
    /** Last word of the carrier's receipts, as received; empty if there is none. */
    last_word: Generated<string>;
    /**
     * Instant until which a part that a carrier's word made `unknown` accepts a better word; `null` if it is settled.
     */
    revisable_until: Generated<number | null>;
  };
  /** A failed or repeated try; a part that was accepted at once has none. */
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
    /** The destination as E.164 with `+`; `null` if it cannot be parsed. */
    number: string | null;
    /** Reference of the part modulo 2^`reference_bits`, from carriers that return it. */
    reference: number | null;
    reference_bits: number | null;
    state: string;
    error: string;
    /** The carrier's word as received. */
    word: Generated<string>;
    /** Text as the carrier sent it, for operators. */
    raw: string;
    /** Instant by the carrier's clock; `null` if the receipt has none. */
    submitted_at: number | null;
    done_at: number | null;
    received_at: number;
    /** `null` while the receipt matches no part. */
    part_id: number | null;
    /**
     * JSON: all forms of the message id, each in a list of its own, likeliest first; empty for a receipt that matched
     * at once.
     */
    carrier_keys: Generated<string>;
    /** Number of keys at the end of the list that are equally likely. */
    equal_keys: Generated<number>;
    /**
     * Why it matches no part: `number` or `ambiguous`, with the suffix ` reported` once the metric counts it; empty if
     * nothing fits.
     */
    unmatched: Generated<string>;
  };
  sms_reply: {
    id: Generated<number>;
    connector_id: number;
    /** `null` if no account has written to the number. */
    app_id: number | null;
    account_id: number | null;
    origin: string;
    text: string;
    received_at: number;
    /** Reference shared by the parts of a long reply; `null` if it is not split. */
    reference: number | null;
    /** Number of the part, from 1. */
    part: number | null;
    parts: number | null;
    /** The carrier's data coding if it cannot be decoded, and `text` has the octets; `null` for text. */
    coding: Generated<number | null>;
  };
  /** A message of a carrier that could not be parsed. */
  sms_unread: {
    id: Generated<number>;
    connector_id: number;
    reason: string;
    command: string;
    /** The octets in hexadecimal. */
    octets: string;
    received_at: number;
  };
  sms_opt_out: {
    /** 0: all accounts. */
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
    /** `null`: no rate limit. */
    parts_per_second: number | null;
    changed_at: number;
  };
  sms_route: {
    /** Digits with `+`; empty: all numbers. */
    prefix: string;
    /** Lower values are preferred. */
    position: number;
    connector_id: number;
  };
  /** Deliveries to be posted to customers' webhooks. */
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
  /** Accounts whose messages are watched. docs/decisions/0690 */
  sms_watch: {
    account_id: number;
    /** Raised by each transaction that changes messages of the account. */
    version: number;
    /** Instant after which nobody watches them. */
    until: number;
  };
  /** The last attempts to post to the webhook of each app. */
  sms_delivery_attempt: {
    id: Generated<number>;
    app_id: number;
    /** 0: a test, which was in no queue. */
    delivery_id: number;
    /** `receipt`, `reply` or `test` */
    kind: string;
    /** Empty unless it is a receipt. */
    sendid: string;
    at: number;
    took_ms: number;
    tries: number;
    /** `delivered`, `retry` or `dropped` */
    outcome: string;
    /** HTTP status; 0: no answer. */
    status: number;
    /** Why there was no answer; empty: there was one. */
    reason: string;
    /** Beginning of the answer's body. */
    answer: string;
  };
}
