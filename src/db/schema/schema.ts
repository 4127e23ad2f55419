/**
 * The tables as typed for Kysely, the same on both engines: text and integers only, instants in epoch milliseconds,
 * JSON as text. `migrations/migrations.ts` creates them. Names in snake_case are SQL and stay in this room.
 */
import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { AcmeTables } from './acme.ts';
import type { AddressListTables } from './address-lists.ts';
import type { AuditTables } from './audit.ts';
import type { CertificateTables } from './certificates.ts';
import type { ControlTables } from './controls.ts';
import type { EventTables } from './events.ts';
import type { FleetTables } from './fleet.ts';
import type { GroupTables } from './groups.ts';
import type { LiveTables } from './live.ts';
import type { PeopleTables } from './people.ts';
import type { SmsTables } from './sms.ts';
import type { TrafficTables } from './traffic.ts';

export interface Schema
  extends AcmeTables,
    AddressListTables,
    AuditTables,
    CertificateTables,
    ControlTables,
    EventTables,
    FleetTables,
    GroupTables,
    LiveTables,
    PeopleTables,
    SmsTables,
    TrafficTables {
  account: {
    id: Generated<number>;
    name: string;
    kind: string;
    created_at: number;
    /** Number of domains, without deleted ones. */
    domains: Generated<number>;
    /** `null` while the account is in use. */
    disabled_at: number | null;
    /** JSON: `AccountLimits`. */
    limits: Generated<string>;
    /** `null` while it is within its bandwidth. */
    over_since: number | null;
    /** 0 or 1: whether members need a second factor; `null`: as the kind of the account has it. */
    second_factor: number | null;
  };
  token: {
    id: Generated<number>;
    account_id: number;
    /** JSON: a list of scopes. */
    scopes: string;
    label: string;
    /** SHA-256 of the token, hex. */
    hash: string;
    created_at: number;
    expires_at: number | null;
    revoked_at: number | null;
    /** JSON: list of networks; `null` if the token may be used from any address. */
    addresses: string | null;
    /** JSON: a list of `TokenAccess`; `null`: all. */
    access: string | null;
    /** JSON: a list of ids; `null`: all domains of the account. */
    domain_ids: string | null;
    /** Hash of the secret before the last rotation; it works until `former_until`. */
    former_hash: string | null;
    former_until: number | null;
    /** Written once a minute at most. */
    last_used_at: number | null;
  };
  /** Answers to calls with an Idempotency-Key, kept for a day. */
  kept_answer: {
    /** Hash of account, operation and key. */
    id: string;
    account_id: number;
    /** Hash of the token and of what was asked. */
    request_hash: string;
    /** JSON, sealed. */
    answer: string;
    made_at: number;
  };
  domain: {
    /** The id is below 2^31 and never reused, even after a delete. */
    id: Generated<number>;
    account_id: number;
    name: string;
    type: string;
    icp_number: string;
    remark: string;
    state: string;
    created_at: number;
    setting_revision: number;
    /** JSON: the members of `DomainSettings`; a missing one has its default. */
    settings: string;
    /** Rows are kept for logs and statistics; the name of a deleted domain is free. */
    deleted_at: number | null;
    /** 0 or 1: edges refuse its viewers, since the account is over its bandwidth. */
    limited: Generated<number>;
    /** Why its review was rejected; empty unless it is rejected. */
    reject_reason: Generated<string>;
  };
  /** One row. */
  config_head: {
    id: number;
    /** Random; created with the database. */
    epoch: string;
    revision: number;
    /** Changes up to this revision may be pruned: an edge at an older one takes a snapshot. */
    min_revision: number;
  };
  /** One row for each revision of the last 30 days, and for the newest. */
  revision_tag: {
    revision: number;
    /** Random. */
    tag: string;
    made_at: number;
  };
  resource: {
    kind: string;
    key: string;
    revision: number;
    /** 0 or 1; a deleted resource is a tombstone until it is pruned. */
    deleted: number;
    changed_at: number;
    /** JSON; empty in a tombstone. */
    body: string;
  };
  edge: {
    id: string;
    applied_revision: number;
    /** JSON: a list of `Rejection`. */
    rejected: string;
    build: string;
    started_at: number;
    reported_at: number;
    /** JSON: a list of `OriginTrouble`. */
    origins: Generated<string>;
    /** `local`: it reports over the unix socket of control's machine. `edge`: it has been enrolled. */
    kind: Generated<string>;
    group_name: Generated<string>;
    /** JSON: an object of texts. */
    labels: Generated<string>;
    /** Identifies the enrolled machine and its data directory; empty if unknown. */
    machine: Generated<string>;
    /** X25519 public key, base64; empty if unknown. */
    seal_key: Generated<string>;
    enrolled_at: number | null;
    /** `null` unless an operator has revoked it. */
    revoked_at: number | null;
    revoke_reason: Generated<string>;
    /** Time at which two copies of it were noticed; `null` if there is one. */
    suspect_at: number | null;
    /** The `EdgeState` that the last event of this kind tells; empty before the first. */
    state: Generated<string>;
    state_at: number | null;
    /** The `OwnState` of its last report; empty before one that has it. */
    own_state: Generated<string>;
    /** When it was last heard of; `null` if never. */
    seen_at: number | null;
    /** When an operator of control ordered its drain. */
    drain_at: number | null;
    /** Time of its first report of late that it drains itself. */
    self_drain_at: number | null;
    removed_at: number | null;
    /** JSON: a list of words. */
    features: Generated<string>;
    clock_offset_ms: number | null;
    /** JSON: an `EdgeLoad`, or an empty object. */
    load: Generated<string>;
    /** JSON: a list of `CheckResult`. */
    health: Generated<string>;
    /** JSON: a list of `SinkTrouble`. */
    sinks: Generated<string>;
    /** `host:port` at which other edges reach it, as it reports; empty: it does not listen for them. */
    tier_address: Generated<string>;
  };
  /** The purges among the resources, by site. */
  purge: {
    /** Key of the resource. */
    key: string;
    site_id: number;
    kind: string;
    target: string;
    created_at: number;
  };
  cache_task: {
    id: Generated<number>;
    account_id: number;
    kind: string;
    created_at: number;
    /** Feed revision that published the task's resources; 0 inside the transaction that creates it. */
    revision: number;
    /** JSON: a list of `CacheItem`. */
    items: string;
  };
  prefetch_outcome: {
    task_id: number;
    /** Index of the item within the task, from 0. */
    n: number;
    edge: string;
    /** Empty if the object is stored there. */
    failure: string;
  };
  /** Amounts that an account has requested on one day. */
  cache_usage: {
    account_id: number;
    /** `YYYY-MM-DD` in the service's time zone. */
    day: string;
    purge_urls: Generated<number>;
    purge_directories: Generated<number>;
    prefetch_urls: Generated<number>;
  };
}

/** First parameter of every query function: the database, or a transaction. */
export type Executor = Kysely<Schema> | Transaction<Schema>;

export type AccountRow = Selectable<Schema['account']>;
export type TokenRow = Selectable<Schema['token']>;
export type DomainRow = Selectable<Schema['domain']>;
export type EdgeRow = Selectable<Schema['edge']>;
export type EventRow = Selectable<Schema['event']>;
export type PersonRow = Selectable<Schema['person']>;
export type PasskeyRow = Selectable<Schema['passkey']>;
export type InvitationRow = Selectable<Schema['invitation']>;
export type SessionRow = Selectable<Schema['session']>;
export type AuditEventRow = Selectable<Schema['audit_event']>;
export type CertificateRow = Selectable<Schema['certificate']>;
export type CertificateOrderRow = Selectable<Schema['certificate_order']>;
export type LiveStreamRow = Selectable<Schema['live_stream']>;
export type CacheTaskRow = Selectable<Schema['cache_task']>;
