/** The index of log file parts; the bytes are blobs. */
import { sql } from 'kysely';
import type { Executor } from '../schema/schema.ts';

export interface LogPartRow {
  readonly key: string;
  readonly domainId: number;
  /** `YYYY-MM-DD` */
  readonly day: string;
  readonly bytes: number;
  readonly lines: number;
}

export interface LogDay {
  readonly domainId: number;
  readonly day: string;
  /** Bytes of all its parts. */
  readonly bytes: number;
}

export interface DaySpan {
  readonly domainIds: readonly number[];
  /** Both inclusive. */
  readonly firstDay: string;
  readonly lastDay: string;
}

export async function hasLogPart(x: Executor, key: string): Promise<boolean> {
  const row = await x.selectFrom('log_part').select('key').where('key', '=', key).executeTakeFirst();
  return row !== undefined;
}

/**
 * Appends a part to its day's file, so that bytes served before keep their place. Returns false if the part exists
 * already. docs/decisions/0435
 */
export async function insertLogPart(x: Executor, part: LogPartRow, now: number): Promise<boolean> {
  const { key, domainId, day, bytes, lines } = part;
  for (;;) {
    const row = await x
      .insertInto('log_part')
      .values((e) => ({
        ...{ key, domain_id: domainId, day, bytes, lines, received_at: now },
        position: e
          .selectFrom('log_part as p')
          .select((last) => last(last.fn.coalesce(last.fn.max('p.position'), sql.lit(0)), '+', sql.lit(1)).as('next'))
          .where('p.domain_id', '=', domainId)
          .where('p.day', '=', day),
      }))
      .onConflict((conflict) => conflict.doNothing())
      .returning('key')
      .executeTakeFirst();
    if (row !== undefined) return true;
    // Otherwise another transaction took the position and has committed, so the next one is free. Happens on PostgreSQL
    // only.
    if (await hasLogPart(x, key)) return false;
  }
}

/** Lists days, newest first, without days of which parts were deleted. */
export async function listLogDays(x: Executor, { domainIds, firstDay, lastDay }: DaySpan): Promise<readonly LogDay[]> {
  if (domainIds.length === 0) return [];
  const rows = await x
    .selectFrom('log_part')
    .select((e) => ['domain_id', 'day', e.fn.sum<number>('bytes').as('bytes')])
    .where('domain_id', 'in', domainIds)
    .where('day', '>=', firstDay)
    .where('day', '<=', lastDay)
    .groupBy(['domain_id', 'day'])
    .having((e) => e(e.fn.max('position'), '=', e.fn.countAll<number>()))
    .orderBy('day', 'desc')
    .orderBy('domain_id', 'desc')
    .execute();
  return rows.map((row) => ({ domainId: row.domain_id, day: row.day, bytes: Number(row.bytes) }));
}

/**
 * Lists the parts of one day's file, in order. Empty if some were deleted, since the rest differs from the file that
 * was served.
 */
export async function listLogParts(x: Executor, domainId: number, day: string): Promise<readonly LogPartRow[]> {
  const rows = await x
    .selectFrom('log_part')
    .select(['key', 'bytes', 'lines', 'position'])
    .where('domain_id', '=', domainId)
    .where('day', '=', day)
    .orderBy('position')
    .execute();
  if (rows.at(-1)?.position !== rows.length) return [];
  return rows.map(({ key, bytes, lines }) => ({ key, domainId, day, bytes, lines }));
}

export interface PlacedPart extends LogPartRow {
  readonly position: number;
}

/** Parts of a domain's files from `firstDay` on, the last ones first, from before `before` on. */
export async function listPartsBefore(
  x: Executor,
  {
    domainId,
    firstDay,
    before,
    limit,
  }: {
    readonly domainId: number;
    readonly firstDay: string;
    readonly before: { readonly day: string; readonly position: number } | undefined;
    readonly limit: number;
  },
): Promise<readonly PlacedPart[]> {
  let query = x
    .selectFrom('log_part')
    .select(['key', 'day', 'bytes', 'lines', 'position'])
    .where('domain_id', '=', domainId)
    .where('day', '>=', firstDay);
  if (before !== undefined)
    query = query.where((e) =>
      e.or([e('day', '<', before.day), e.and([e('day', '=', before.day), e('position', '<', before.position)])]),
    );
  const rows = await query.orderBy('day', 'desc').orderBy('position', 'desc').limit(limit).execute();
  return rows.map((row) => ({ domainId, ...row }));
}

/** Lists keys of parts of days before `day`, in order: at most `limit`, after the key `after`. */
export async function listLogPartsBefore(
  x: Executor,
  { day, after, limit }: { readonly day: string; readonly after: string; readonly limit: number },
): Promise<readonly string[]> {
  const rows = await x
    .selectFrom('log_part')
    .select('key')
    .where('day', '<', day)
    .where('key', '>', after)
    .orderBy('key')
    .limit(limit)
    .execute();
  return rows.map(({ key }) => key);
}

export async function deleteLogParts(x: Executor, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await x.deleteFrom('log_part').where('key', 'in', keys).execute();
}
