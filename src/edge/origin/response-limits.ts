/** Limits of origins' responses and idle connections, whichever client reads them. */

/** What is gathered of a head, or of the trailers behind a body, before the response is refused. */
export const MAX_RESPONSE_HEAD_BYTES = 32 * 1024;
/** More interim responses before one response are no answer. */
export const MAX_INTERIM = 32;
/** Idle time below the 5 s after which Node and Apache close a connection; an origin's `Keep-Alive` hint may change it. */
export const ORIGIN_KEEP_ALIVE_MS = 4_000;
export const MAX_ORIGIN_KEEP_ALIVE_MS = 60_000;
