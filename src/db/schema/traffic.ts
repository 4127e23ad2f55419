/** Tables of traffic that edges report: log files and sums. */

export interface TrafficTables {
  /** One gzip member of a log file, kept as a blob under `key`. */
  log_part: {
    key: string;
    domain_id: number;
    /** `YYYY-MM-DD` in the service's time zone. */
    day: string;
    bytes: number;
    lines: number;
    received_at: number;
    /** Position within the day's file: 1, 2, 3, in commit order. */
    position: number;
  };
  /** The newest report of each start of an edge; older ones were already added. */
  stat_report: {
    edge: string;
    start: string;
    sequence: number;
    received_at: number;
  };
  /** Sums of one domain within one minute, hour or day. */
  stat_sum: StoredSums & {
    domain_id: number;
  };
  /** Sums of all domains of an account, as it was when they were counted. */
  stat_account: StoredSums & {
    account_id: number;
  };
  /** The most frequent values of one hour; approximate. */
  stat_top: {
    domain_id: number;
    /** Start of the hour. */
    at: number;
    /** `url`, `referer`, `client` or `status`. */
    kind: string;
    value: string;
    requests: number;
    bytes: number;
  };
}

interface StoredSums {
  /** `minute`, `hour` or `day`. */
  grain: string;
  /** Start in epoch milliseconds: full minutes and hours of UTC, days of the service's time zone. */
  at: number;
  requests: number;
  bytes_in: number;
  bytes_out: number;
  bytes_origin: number;
  hits: number;
  hit_bytes: number;
  status_2xx: number;
  status_3xx: number;
  status_4xx: number;
  status_5xx: number;
}
