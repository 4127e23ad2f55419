/**
 * The tables as Kysely sees them, the same on both engines: text and integers only, instants in epoch milliseconds, JSON
 * as text. `migrations/migrations.ts` makes them; a name in snake_case is SQL and stays in this room.
 */
import type { Generated, Kysely, Selectable, Transaction } from 'kysely';
import type { AcmeTables } from './acme.ts';
import type { CertificateTables } from './certificates.ts';
import type { LiveTables } from './live.ts';
import type { SmsTables } from './sms.ts';
import type { TrafficTables } from './traffic.ts';

export interface Schema extends AcmeTables, CertificateTables, LiveTables, SmsTables, TrafficTables {
  account: {
    id: Generated<number>;
    name: string;
    kind: string;
    created_at: number;
    /** How many domains it has; deleted ones do not count. */
    domains: Generated<number>;
    /** Absent: it is in use. */
    disabled_at: number | null;
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
    /** JSON: a list of networks; absent: it may be used from anywhere. */
    addresses: string | null;
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
    /** Rows stay for logs and statistics; a deleted name is free for anyone. */
    deleted_at: number | null;
  };
  /** One row. */
  config_head: {
    id: number;
    /** Random; made with the database. */
    epoch: string;
    revision: number;
    /** Changes up to this revision may be forgotten: an edge with an older one takes a snapshot. */
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
    /** Which of the task's items, from 0. */
    n: number;
    edge: string;
    /** Empty: the object is stored there. */
    failure: string;
  };
  /** What an account has asked for on one day. */
  cache_usage: {
    account_id: number;
    /** `YYYY-MM-DD` in the service's time zone. */
    day: string;
    purge_urls: Generated<number>;
    purge_directories: Generated<number>;
    prefetch_urls: Generated<number>;
  };
}

/** What every query function takes first: the database, or a transaction of it. */
export type Executor = Kysely<Schema> | Transaction<Schema>;

export type AccountRow = Selectable<Schema['account']>;
export type TokenRow = Selectable<Schema['token']>;
export type DomainRow = Selectable<Schema['domain']>;
export type EdgeRow = Selectable<Schema['edge']>;
export type CertificateRow = Selectable<Schema['certificate']>;
export type CertificateOrderRow = Selectable<Schema['certificate_order']>;
export type LiveStreamRow = Selectable<Schema['live_stream']>;
export type CacheTaskRow = Selectable<Schema['cache_task']>;
