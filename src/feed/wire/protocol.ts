/**
 * The one protocol between control and edges. GET /edge/v1/stream?epoch=E&revision=R&tag=T is an SSE stream of deltas
 * from that position on. GET /edge/v1/snapshot (with the position, if there is one) returns everything as zstd NDJSON.
 * POST /edge/v1/status reports the revision in force, POST /edge/v1/prefetch the outcomes of prefetches, POST
 * /edge/v1/live the streams on air. POST /edge/v1/logs and /edge/v1/statistics carry traffic, whose shapes are those of
 * `logs/report.ts`; POST /edge/v1/recordings carries recordings of live streams.
 */
import type { FeedPosition } from '#model/feed-position.ts';

export const STREAM_PATH = '/edge/v1/stream';
export const SNAPSHOT_PATH = '/edge/v1/snapshot';
export const STATUS_PATH = '/edge/v1/status';
/** Reason for which a report is refused (409): control's database was restored, or is another one. */
export const UNKNOWN_POSITION = 'at: no place in the history of this database';
export const PREFETCH_PATH = '/edge/v1/prefetch';
/** Path for view keys that an edge lacks: `{"ids":[…]}` is answered with `{"keys":[…]}`. */
export const VIEW_KEYS_PATH = '/fleet/v1/viewkeys';
/** Ids in one request. */
export const MAX_VIEW_KEY_IDS = 16;
/** Word that the reason begins with for which an edge with two copies gets no view keys (403). */
export const SUSPECT = 'suspect';
/** Error of a rejected resource whose secret control withholds. Stored: the edge asks for these secrets again. */
export const WITHHELD =
  'withheld: two machines have the identity of this edge, so that it gets no new secrets and keeps those that it has';
/** Header of requests with the raw X25519 public key that view keys are to be sealed to, base64. */
export const SEAL_HEADER = 'causeway-seal';
export const LOGS_PATH = '/edge/v1/logs';
/** Paths for log parts that edges store themselves; `logs/upload-messages.ts` has the messages. */
export const LOG_PLACES_PATH = '/edge/v1/logs/places';
export const LOG_DONE_PATH = '/edge/v1/logs/done';
export const STATISTICS_PATH = '/edge/v1/statistics';
/**
 * Header of the answer to a report of traffic: the interval of reports in seconds, longer than that of the settings,
 * while control cannot keep up.
 */
export const STAT_SECONDS_HEADER = 'causeway-stat-seconds';
/** Path of live reports; `live-report.ts` has their form. */
export const LIVE_PATH = '/edge/v1/live';
/** `recording-message.ts` has the messages. */
export const RECORDINGS_PATH = '/edge/v1/recordings';

/** Interval of empty comments; a client that receives nothing for three of them considers the connection dead. */
export const HEARTBEAT_MS = 10_000;
export const SILENCE_MS = 3 * HEARTBEAT_MS;

/** Interval of an edge's reports while nothing changes. */
export const STATUS_MS = 5000;
/** The same for an edge on another machine, whose open stream shows that it is alive. */
export const REMOTE_STATUS_MS = 15_000;

/**
 * Kind of resources about the fleet itself, which every edge gets: `controls` has `FleetControls` as its body, `id` has
 * `FleetId`.
 */
export const FLEET_KIND = 'fleet';
export const CONTROLS_KEY = 'controls';
export const ID_KEY = 'id';

export interface FleetControls {
  /** Addresses of the controls that serve now, `https://host:port`. */
  readonly controls: readonly string[];
}

export interface FleetId {
  /** 8 hex digits, made with the database. */
  readonly id: string;
}

/**
 * Header of a snapshot's file: whether the position of the request belongs to this history, `true` or `false`. The file
 * is the same for all edges of a view, and its head says `false`.
 */
export const CONTINUES_HEADER = 'causeway-continues';
/** Longest time over which the edges of a control spread when it ends. */
export const MAX_SPREAD_MS = 30_000;
/** Rejections in one report; see `status.ts` for more than that. */
export const MAX_REJECTIONS = 1000;
export const MAX_REJECTION_ERROR_CHARS = 300;
/** Troubles with origins in one report. */
export const MAX_ORIGIN_TROUBLES = 1000;
/** Limit of an origin's key: a host, its port and a monitor URL. */
export const MAX_ORIGIN_KEY_CHARS = 800;
/** Limit of a report: 1,000 rejections with their longest names and errors, escaped, and 1,000 origins. */
export const MAX_STATUS_BYTES = 3 * 1024 * 1024;

/** Results of prefetches in one report. */
export const MAX_PREFETCH_RESULTS = 100;
export const MAX_FAILURE_CHARS = 100;

/**
 * One resource's newest state. A delete carries no body. `kind` is `site` (a `SiteSpec` under its name), `purge` (a
 * `PurgeSpec`), `prefetch` (a `PrefetchSpec`) `certificate` (a `CertificatePair` under its `ssl_key`), `challenge` (a
 * `ChallengeBody` under `<host>/<token>`), `live_mark` (a `LiveMark` under `<domain id>/<app>/<stream>`) or `live_keys`
 * (`LiveKeys` under `<domain id>`); an edge keeps kinds that it does not know, for the release that does.
 */
export type ResourceChange =
  | {
      readonly kind: string;
      readonly key: string;
      readonly revision: number;
      readonly op: 'put';
      readonly body: unknown;
    }
  | { readonly kind: string; readonly key: string; readonly revision: number; readonly op: 'delete' };

/**
 * The body of a certificate or of live keys on its way to another machine: the private key, or the whole body as JSON,
 * is sealed under a view key. See `view-key-box.ts`.
 */
export interface SealedBody {
  /** PEM, leaf first; absent for live keys. */
  readonly certificate?: string;
  /** Id of the view key. */
  readonly vk: string;
  /** Base64. */
  readonly sealed: string;
}

/** Sent in place of a certificate or live keys that control cannot decrypt. No edge accepts it. */
export interface UnopenedSecret {
  readonly problem: string;
}

/** Applied only by an edge whose own revision is `from`. */
export interface Delta {
  readonly from: number;
  readonly to: number;
  /** Tag of the revision `to`. */
  readonly tag: string;
  /** Id of the view whose changes it has; absent if it has all. */
  readonly view?: string;
  readonly changes: readonly ResourceChange[];
}

/** First line of a snapshot; `count` lines of `put` follow. `hash` is SHA-256 over those lines with their LF, hex. */
export interface SnapshotHead extends FeedPosition {
  /**
   * Whether the position of the request belongs to this history; if not, keys that the edge knows have lost their
   * meaning.
   */
  readonly continues: boolean;
  /** Id of the view that it has; absent if it has everything. */
  readonly view?: string;
  readonly count: number;
  readonly hash: string;
}

/** Outcomes of prefetches at an edge. */
export interface PrefetchReport {
  readonly edge: string;
  readonly at: FeedPosition;
  readonly results: readonly PrefetchReportResult[];
}

export interface PrefetchReportResult {
  readonly taskId: number;
  readonly n: number;
  /** Absent if the object is stored. */
  readonly failure?: string;
}
