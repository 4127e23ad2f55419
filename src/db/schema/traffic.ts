/** Tables of what edges tell of their traffic: log files and sums. */

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
    /** The part's number within the day's file: 1, 2, 3, in the order of commits. */
    position: number;
  };
  /** The newest report of each start of an edge; reports that are not newer have been added already. */
  stat_report: {
    edge: string;
    start: string;
    sequence: number;
    received_at: number;
  };
  /** Sums of one domain within one minute, hour or day. */
  stat_sum: {
    domain_id: number;
    /** `minute`, `hour` or `day`. */
    grain: string;
    /** When it begins, epoch milliseconds: full minutes and hours of UTC, days of the service's time zone. */
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
  };
  /** Approximate: the values of one hour that occurred most. */
  stat_top: {
    domain_id: number;
    /** When the hour begins. */
    at: number;
    /** `url`, `referer` or `client`. */
    kind: string;
    value: string;
    requests: number;
    bytes: number;
  };
}
