/** Tables of live streams. Instants are epoch milliseconds; 0: none. docs/decisions/0500, 0502 */

/** A stream with its mark and its latest broadcast. */
export interface LiveStreamTable {
  domain_id: number;
  app: string;
  stream: string;
  /** Of the latest broadcast; empty: it was never on air. */
  broadcast: string;
  /** The live process that has or had it. */
  edge: string;
  began_at: number;
  /** 0 with a broadcast: it is on air. */
  ended_at: number;
  /** JSON: the last `LiveStatus`; empty: none since the broadcast began. */
  status: string;
  /** 0 or 1. */
  forbidden: number;
  forbidden_at: number;
  forbidden_until: number;
  resumed_at: number;
  /** A broadcast whose publisher is to be cut; empty: none. */
  kicked: string;
}

export interface LiveBroadcastTable {
  domain_id: number;
  app: string;
  stream: string;
  broadcast: string;
  edge: string;
  source: string;
  address: string;
  began_at: number;
  ended_at: number;
  last_media_at: number;
  /** Empty while it is on air. */
  end_reason: string;
  peak_viewers: number;
}

/** The most viewers at once within a minute or an hour. */
export interface LiveViewersTable {
  domain_id: number;
  app: string;
  stream: string;
  grain: string;
  /** When the minute or hour begins. */
  at: number;
  flv: number;
  websocket: number;
  rtmp: number;
  hls: number;
}

export interface LiveKeysTable {
  domain_id: number;
  /** `LiveKeys` as JSON, sealed for this row; empty after an export left it out. */
  sealed_keys: string;
  changed_at: number;
}

/** How far the reports of each edge have been stored. */
export interface LiveProcessTable {
  edge: string;
  epoch: string;
  taken: number;
  reported_at: number;
}
