/** Tables of events, of the conditions that cause them, and of the webhooks that they are posted to. */
import type { Generated } from 'kysely';

export interface EventTables {
  /** What happened, kept for 90 days. */
  event: {
    id: Generated<number>;
    at: number;
    /** An `EventKind`. */
    kind: string;
    severity: string;
    /** `null`: the operator's. */
    account_id: number | null;
    target_kind: string;
    target_id: string;
    target_name: string;
    /** `token:<id>`, `edge`, or `control`. */
    actor: string;
    /** JSON: an `EventData`. */
    data: string;
  };
  /** Conditions that hold, or held a moment ago. */
  event_condition: {
    /** A `ConditionKind`. */
    kind: string;
    /** Name of the machine that observes it; empty if any control can. */
    owner: string;
    key: string;
    account_id: number | null;
    target_kind: string;
    target_id: string;
    target_name: string;
    level: number;
    /** JSON: an `EventData`. */
    data: string;
    since: number;
    /** 0 or 1: whether its beginning was told. */
    raised: number;
    absent_since: number | null;
  };
  event_webhook: {
    /** The account; 0: the operator. */
    receiver: number;
    url: string;
    /** Sealed; empty if an export left it out. */
    secret: string;
    changed_at: number;
  };
  /** Events to be posted. */
  event_delivery: {
    id: Generated<number>;
    /** See `event_webhook`. */
    receiver: number;
    event_id: number;
    /** JSON. */
    body: string;
    due_at: number;
    tries: Generated<number>;
    created_at: number;
    error: Generated<string>;
  };
}
