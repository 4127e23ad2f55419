/**
 * Bounds that requests are checked against by the contract, and by the rooms that take what it lets through: compiling a
 * site, composing a message. This file imports nothing: the contract runs anywhere.
 */

/**
 * Longest validity in browsers (docs/decisions/0003), heuristic lifetime, lifetime by a policy, and validity of a signed
 * URL after its timestamp.
 */
export const YEAR_SECONDS = 365 * 24 * 3600;

/** Ids are positive and fit a signed 32-bit integer, whatever language a caller uses. */
export const MAX_ID = 2 ** 31 - 1;

/** Origins in each of the two lists. */
export const MAX_ORIGINS = 50;

/** Entries of one access list. docs/decisions/0101 */
export const MAX_ACCESS_ENTRIES = 50;

/** Lists of addresses of an account. */
export const MAX_ADDRESS_LISTS = 50;
/** Addresses and networks in one of them. */
export const MAX_LISTED_ADDRESSES = 5000;
/** Lists that a domain denies, and lists that it allows. */
export const MAX_DOMAIN_LISTS = 5;
export const ADDRESS_LIST_NAME = /^[a-z0-9](?:[a-z0-9-]{0,62}[a-z0-9])?$/;

export const MAX_USER_AGENT_ENTRY_CHARS = 256;

/** Size of a customer's page for 403, in bytes of UTF-8. */
export const MAX_PAGE_BYTES = 64 * 1024;

export const MAX_POLICIES = 100;
/** Patterns among the policies; they cost more than other kinds. docs/decisions/0004 */
export const MAX_PATTERNS = 20;
/** Priorities are 1 to this; the highest wins. */
export const MAX_PRIORITY = 99;

/** Entries of each list of rules: rate limits, and others of `model/rules.ts`. */
export const MAX_RULES = 20;
/** Requests of a rate limit, and its burst. */
export const MAX_LIMIT_REQUESTS = 100_000;
/** Period of a rate limit. */
export const MAX_LIMIT_SECONDS = 3600;

/** 30 days: nothing is kept longer. */
export const MAX_STALE_CAP_SECONDS = 30 * 24 * 3600;
/** Two years: more than the lists of browsers ask for. */
export const MAX_HSTS_SECONDS = 2 * YEAR_SECONDS;

/** Target of a redirect. */
export const MAX_REDIRECT_CHARS = 1024;
/** Value of a header field that a customer sets. */
export const MAX_HEADER_VALUE_CHARS = 1024;
export const MAX_HEADER_NAME_CHARS = 64;
/** Names and values of all of them together. */
export const MAX_HEADERS_CHARS = 8192;

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
/** Parts of such a text: of 67 units, or 66 where a surrogate pair is not cut. */
export const MAX_SMS_PARTS = Math.ceil(MAX_SMS_UNITS / 66);
