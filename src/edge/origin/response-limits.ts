/** Limits of origins' responses and idle connections, for both clients. */

/** Limit of a head, or of the trailers after a body; a response beyond it is refused. */
export const MAX_RESPONSE_HEAD_BYTES = 32 * 1024;
/** Limit of interim responses before one final response; more are malformed. */
export const MAX_INTERIM = 32;
/**
 * Idle time of a connection, below the 5 s after which Node and Apache close it. An origin's `Keep-Alive` field may
 * change it.
 */
export const ORIGIN_KEEP_ALIVE_MS = 4_000;
export const MAX_ORIGIN_KEEP_ALIVE_MS = 60_000;
