/** Tables of live streams. Instants are epoch milliseconds; 0: none. docs/decisions/0500, 0502 */

export interface LiveTables {
  /** A stream with its mark and its latest broadcast. */
  live_stream: {
    domain_id: number;
    app: string;
    stream: string;
    /** Id of the latest broadcast; empty if the stream was never on air. */
    broadcast: string;
    /** The edge whose live process has or had it. */
    edge: string;
    began_at: number;
    /** 0 while a broadcast is on air. */
    ended_at: number;
    /** JSON: the last `LiveStatus`; empty if there is none of this broadcast. */
    status: string;
    /** 0 or 1. */
    forbidden: number;
    forbidden_at: number;
    forbidden_until: number;
    resumed_at: number;
    /** Id of a broadcast whose publisher must be cut; empty if there is none. */
    kicked: string;
  };
  live_broadcast: {
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
  };
  /** The most viewers at once within a minute or an hour. */
  live_viewers: {
    domain_id: number;
    app: string;
    stream: string;
    grain: string;
    /** Start of the minute or hour. */
    at: number;
    flv: number;
    websocket: number;
    rtmp: number;
    hls: number;
  };
  live_keys: {
    domain_id: number;
    /** `LiveKeys` as JSON, sealed for this row; empty after an export left it out. */
    sealed_keys: string;
    changed_at: number;
  };
  /** Up to which event the reports of each edge are stored. */
  live_process: {
    edge: string;
    epoch: string;
    taken: number;
    reported_at: number;
  };
  /** A recorded stretch of one broadcast with unchanged formats. docs/decisions/0503 */
  live_recording: {
    recording: string;
    domain_id: number;
    app: string;
    stream: string;
    broadcast: string;
    edge: string;
    began_at: number;
    /** When the last media that is stored ends. */
    last_at: number;
    /** Why it ended; empty until its end is reported. */
    end_reason: string;
    duration_ms: number;
    /** Size of the recording as one file. */
    bytes: number;
    expires_at: number;
    /** 0 if it was not deleted. */
    deleted_at: number;
  };
  /** A piece is one blob of the store: an init segment followed by media. */
  live_recording_piece: {
    recording: string;
    /** Counts from 0. */
    n: number;
    key: string;
    init_bytes: number;
    media_bytes: number;
    duration_ms: number;
    /** 0 or 1. 1 means that the media does not continue the piece before. */
    is_discontinuity: number;
  };
}
