/**
 * Bounds of a domain's settings. The contract checks requests against them, and compiling a site checks them again. This
 * file imports nothing: the contract runs anywhere.
 */

/** Longest validity in browsers (docs/decisions/0003), heuristic lifetime and lifetime by a policy. */
export const YEAR_SECONDS = 365 * 24 * 3600;

/** Ids are positive and fit a signed 32-bit integer, whatever language a caller uses. */
export const MAX_ID = 2 ** 31 - 1;

/** Origins in each of the two lists. */
export const MAX_ORIGINS = 50;

/** Entries of one access list. docs/decisions/0101 */
export const MAX_ACCESS_ENTRIES = 50;

/** Size of a customer's page for 403, in bytes of UTF-8. */
export const MAX_PAGE_BYTES = 64 * 1024;

export const MAX_POLICIES = 100;
/** Patterns among the policies; they cost more than other kinds. docs/decisions/0004 */
export const MAX_PATTERNS = 20;
/** Priorities are 1 to this; the highest wins. */
export const MAX_PRIORITY = 99;

/** 30 days: nothing is kept longer. */
export const MAX_STALE_CAP_SECONDS = 30 * 24 * 3600;
/** Two years: more than the lists of browsers ask for. */
export const MAX_HSTS_SECONDS = 2 * YEAR_SECONDS;
