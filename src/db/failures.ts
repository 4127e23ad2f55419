/** What a failed query means: try again at once, ask again later, or a mistake of ours. */
import pg from 'pg';
import { LostConnection } from './engines/postgres/lost-connections.ts';
import { isQueryTimeout } from './engines/postgres/pool.ts';

/** True for what another try may cure: a serialization failure or a deadlock. */
export function isWorthAnotherTry(error: unknown): boolean {
  return error instanceof pg.DatabaseError && (error.code === '40001' || error.code === '40P01');
}

/**
 * True when the database is away, full, overloaded or does not take writes: nobody's mistake, and over when it is put
 * right. Whether what was asked has been done is not known.
 */
export function isDatabaseAway(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (error instanceof pg.DatabaseError) return AWAY_STATES.test(error.code ?? '');
  if (isQueryTimeout(error) || error instanceof LostConnection || LOST_MESSAGES.includes(error.message)) return true;
  if ('errcode' in error) return AWAY_SQLITE.includes(Number(error.errcode) & 0xff); // node:sqlite has extended codes
  return 'code' in error && NETWORK_CODES.includes(String(error.code));
}

/**
 * SQLSTATE (PostgreSQL manual, appendix A): connection exceptions; a user that is not let in; a database that is not
 * there; insufficient resources, such as a full disk; a statement that took too long; a lock that did not come; a
 * server that stops or starts; a read-only one; errors of its disk.
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
  'ENOENT', // of a Unix socket
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
