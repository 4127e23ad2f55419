/** What a connection to control may take of time and memory, and how many there may be. */
import type { HeldLimits } from './held-bytes.ts';

export const MAX_CONNECTIONS = 10_000;
/**
 * Memory for incomplete calls: 256 of the largest at once, and 16 KiB of each connection, where calls usually have a
 * few hundred bytes; 400 MiB, not 10 GiB, on all connections.
 */
export const MAX_HELD: HeldLimits = { inAllBytes: 256 * 2 ** 20, freeBytes: 16 * 1024 };
/** Limit of a whole request, body included. */
export const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s after which load balancers let go of an idle connection, so that it is they who close it. */
export const KEEP_ALIVE_MS = 65_000;
/** Grace for requests in flight when the service closes. */
export const CLOSE_GRACE_MS = 10_000;
/**
 * Requests that wait for the answer before them on their connection, where node:http reads it; each takes 3 KB. Nothing is read while
 * some wait, and what one read holds are at most some 400 calls with a token.
 */
export const MAX_WAITING = { ofConnection: 500, inAll: 50_000 };
