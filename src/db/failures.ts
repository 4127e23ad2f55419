/** Classifies failed queries: retry at once, try again later, or a bug. */
import pg from 'pg';
import { NotPrimary } from './engines/postgres/hosts.ts';
import { LostConnection } from './engines/postgres/lost-connections.ts';
import { isQueryTimeout } from './engines/postgres/pool.ts';

/** Whether a retry may succeed: after a serialization failure or a deadlock. */
export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/**
 * Whether the database is unreachable, full, overloaded or read-only: a temporary condition, not a bug. It is unknown
 * whether the query took effect.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return AWAY_STATES.test(error.code ?? '');
  if (isUnanswered(error) || error instanceof NotPrimary || LOST_MESSAGES.includes(error.message)) return true;
  if ('errcode' in error) return AWAY_SQLITE.includes(Number(error.errcode) & 0xff); // node:sqlite has extended codes
  return 'code' in error && NETWORK_CODES.includes(String(error.code));
}

/** Whether a query was given up because no answer arrived for seconds. */
export function isUnanswered(error: unknown): boolean {
  return error instanceof LostConnection || isQueryTimeout(error);
}

/**
 * SQLSTATE codes (PostgreSQL manual, appendix A): connection exceptions; invalid authorization; missing database;
 * insufficient resources, such as a full disk; canceled statement; lock not available; server shutdown or start;
 * read-only transaction; I/O error.
 */
const AWAY_STATES = /^(?:08...|28...|3D000|53...|57014|57P0[1-5]|55P03|25006|58030)$/;

/**
 * Primary result codes (sqlite.org/rescode.html): busy, locked, out of memory, read-only, I/O error, full, cannot open.
 */
const AWAY_SQLITE = [5, 6, 7, 8, 10, 13, 14];

const NETWORK_CODES = [
  'ECONNREFUSED',
  'ECONNRESET',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'ENOTFOUND',
  'EAI_AGAIN',
  'ENOENT', // missing Unix socket
];

/** Messages of `pg` and its pool, which give these errors no code. */
const LOST_MESSAGES = [
  'timeout exceeded when trying to connect',
  'timeout expired',
  'Connection terminated',
  'Connection terminated unexpectedly',
  'Connection terminated due to connection timeout',
  'Client has encountered a connection error and is not queryable',
];
