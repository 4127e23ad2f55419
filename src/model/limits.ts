/**
 * Bounds that requests are checked against by the contract, and by the rooms that take what it lets through: compiling a
 * site, composing a message. This file imports nothing: the contract runs anywhere.
 */

/** Longest validity in browsers (docs/decisions/0003), heuristic lifetime and lifetime by a policy. */
export const YEAR_SECONDS = 365 * 24 * 3600;

/** Ids are positive and fit a signed 32-bit integer, whatever language a caller uses. */
export const MAX_ID = 2 ** 31 - 1;

/** Origins in each of the two lists. */
export const MAX_ORIGINS = 50;

/** Entries of one access list. docs/decisions/0101 */
export const MAX_ACCESS_ENTRIES = 50;

export const MAX_USER_AGENT_ENTRY_CHARS = 256;

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

/** Names that the app and the stream of a live stream may have. */
export const LIVE_APP_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/;
export const LIVE_STREAM_NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,127}$/;
/** Keys for publishing and playing. */
export const LIVE_KEY = /^[A-Za-z0-9]{16,64}$/;
/** Ids of broadcasts and recordings. */
export const LIVE_ID = /^[a-z0-9]{1,32}$/;

/** Numbers in one request to send, repeated ones counted. */
export const MAX_SMS_NUMBERS = 1000;
/** UTF-16 units of a message's text: eight parts of 67. */
export const MAX_SMS_UNITS = 536;
