/** What the database knows of connectors at work: what waits for them, and what went wrong lately. docs/decisions/0681 */
import { sql } from 'kysely';
import type { Executor } from '../../schema/schema.ts';

/** Waiting parts that are counted, of all routes together. */
const MAX_COUNTED_PARTS = 100_000;
/** Rows that errors are counted in, of tries and of receipts: an hour of a quiet service, a minute of a busy one. */
const MAX_COUNTED_ERRORS = 20_000;

/** Number of parts that wait in each route, by its prefix; at most 100,000 in all. */
export async function countQueuedByRoute(x: Executor): Promise<ReadonlyMap<string, number>> {
  const { rows } = await sql<{ route: string; parts: number }>`
    select route as route, count(*) as parts
    from (select route from sms_part where state = 'queued' limit ${sql.lit(MAX_COUNTED_PARTS)}) as waiting
    group by route`.execute(x);
  return new Map(rows.map(({ route, parts }) => [route, Number(parts)]));
}

export interface ConnectorError {
  readonly connectorId: number;
  readonly code: string;
  /** An answer to sending, or a receipt. */
  readonly from: 'submit' | 'receipt';
  readonly count: number;
}

export interface ConnectorErrors {
  readonly errors: readonly ConnectorError[];
  /** Instant from which all errors are counted. */
  readonly since: number;
}

/** Counts errors since `since`, or since later where there are too many rows, the most frequent first. */
export async function readConnectorErrors(x: Executor, since: number): Promise<ConnectorErrors> {
  const limit = sql.lit(MAX_COUNTED_ERRORS);
  // Attempts are stored in order of time, so no index by time is needed.
  const attempts = await sql<ErrorRow>`
    select connector_id as "connectorId", error as code, count(*) as count, min(first) as first, max(rows) as rows
    from (select connector_id, error, ended_at, min(ended_at) over () as first, count(*) over () as rows
      from (select connector_id, error, ended_at from sms_attempt order by id desc limit ${limit}) as newest) as t
    where ended_at >= ${since} group by connector_id, error order by 3 desc`.execute(x);
  const receipts = await sql<ErrorRow>`
    select connector_id as "connectorId", error as code, count(*) as count, min(first) as first, max(rows) as rows
    from (select connector_id, error, state, min(received_at) over () as first, count(*) over () as rows
      from (select connector_id, error, state, received_at from sms_receipt where received_at >= ${since}
        order by received_at desc limit ${limit}) as newest) as t
    where state in ('failed', 'expired', 'unknown') group by connector_id, error order by 3 desc`.execute(x);
  return {
    errors: [
      ...attempts.rows.map((row) => toError(row, 'submit')),
      ...receipts.rows.map((row) => toError(row, 'receipt')),
    ],
    since: Math.max(since, cutOf(attempts.rows), cutOf(receipts.rows)),
  };
}

interface ErrorRow {
  readonly connectorId: number;
  readonly code: string;
  readonly count: number;
  /** The earliest row that was looked at, and how many were. */
  readonly first: number;
  readonly rows: number;
}

function toError({ connectorId, code, count }: ErrorRow, from: ConnectorError['from']): ConnectorError {
  return { connectorId, code, from, count: Number(count) };
}

/** When the rows that were looked at begin, if there are earlier ones; else 0. */
function cutOf([row]: readonly ErrorRow[]): number {
  return row !== undefined && Number(row.rows) === MAX_COUNTED_ERRORS ? Number(row.first) : 0;
}
