/**
 * Stored receipts that match no part yet. They are matched again when a response brings their id, and periodically.
 * docs/decisions/0427
 */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import type { ChargeAt } from '#model/sms-part.ts';
import { isPostgres } from '../../engines/engine.ts';
import type { Schema } from '../../schema/schema.ts';
import { inIds, rowList, rowsOf } from '../../statements/lists.ts';
import { statement } from '../../statements/statement.ts';
import { matchReceipts, type ReceiptToMatch } from './matching.ts';
import { applyFates, type Fate } from './receipts.ts';

export interface Orphan extends Omit<Fate, 'partId'> {
  readonly id: number;
  readonly connectorId: number;
  /** JSON: a list of lists with one key each. */
  readonly carrierKeys: string;
  readonly equalKeys: number;
  readonly number: string | null;
  readonly reference: number | null;
  readonly referenceBits: number | null;
  readonly unmatched: string;
}

/** Columns of an `Orphan`; `r` is `sms_receipt`. */
const ORPHAN = sql`r.id as id, r.connector_id as "connectorId", r.carrier_key as "carrierKey", r.carrier_keys as "carrierKeys",
  r.equal_keys as "equalKeys", r.number as number, r.reference as reference, r.reference_bits as "referenceBits",
  r.state as state, r.error as error, r.word as word, r.done_at as "doneAt", r.received_at as "receivedAt",
  r.unmatched as unmatched`;

/** Selects unmatched receipts with these ids. `answered`: connector, and a form of the id from a response. */
export const selectOrphans = statement({ answered: 'rows' }, ({ answered }, x) => {
  const own = sql`r.part_id is null and r.carrier_key = value ->> 1 and r.connector_id = cast(value ->> 0 as integer)`;
  // `offset 0`: otherwise PostgreSQL, which cannot estimate the length of the list, may read all unmatched receipts.
  const found = isPostgres(x)
    ? sql`join lateral (select r.* from sms_receipt as r where ${own} offset 0) as r on true`
    : sql`join sms_receipt as r on ${own}`;
  return sql<Orphan>`select ${ORPHAN} from ${answered} ${found}`;
});

interface SettleOptions {
  readonly now: number;
  readonly chargeAt: ChargeAt;
  /** See `matchReceipts`. */
  answersAfterMs(connectorId: number): number;
}

/** Matches receipts again. Returns the parts that ended. */
export async function settleOrphans(
  trx: Transaction<Schema>,
  found: readonly Orphan[],
  { now, chargeAt, answersAfterMs }: SettleOptions,
): Promise<readonly number[]> {
  if (found.length === 0) return [];
  const orphans = [...new Map(found.map((one) => [one.id, one])).values()].toSorted((a, b) => a.id - b.id);
  const matches = await matchReceipts(trx, orphans.map(toMatch), now, answersAfterMs);
  const fates: Fate[] = [];
  const matched: [number, number][] = [];
  const marks = new Map<string, number[]>();
  for (const [n, orphan] of orphans.entries()) {
    const match = matches[n];
    if (match?.kind === 'part') {
      matched.push([orphan.id, match.partId]);
      fates.push({ ...orphan, partId: match.partId });
    } else if (match !== undefined) {
      const mark = match.reason === 'unknown' ? '' : match.reason;
      if (!isReported(orphan) && mark !== orphan.unmatched) marks.set(mark, [...(marks.get(mark) ?? []), orphan.id]);
    }
  }
  if (matched.length > 0)
    await sql`
      update sms_receipt set part_id = v.part_id
      from (select cast(value ->> 0 as bigint) as id, cast(value ->> 1 as bigint) as part_id from ${rowList(trx, matched)}) as v
      where sms_receipt.id = v.id`.execute(trx);
  for (const [mark, ids] of marks)
    await trx
      .updateTable('sms_receipt')
      .set({ unmatched: mark })
      .where(sql<boolean>`id ${inIds(trx, ids)}`)
      .execute();
  return await applyFates(trx, fates, now, chargeAt);
}

function toMatch(orphan: Orphan): ReceiptToMatch {
  const { connectorId, carrierKey, carrierKeys, equalKeys, reference, referenceBits, state } = orphan;
  const keys = (JSON.parse(carrierKeys) as [string][]).map(([key]) => key); // `as`: only `storeReceipts` writes them
  // Receipts of an earlier release have one key.
  return {
    ...{ connectorId, equalKeys, receivedAt: orphan.receivedAt, isEnd: state !== 'onTheWay' },
    keys: keys.length === 0 && carrierKey !== '' ? [carrierKey] : keys,
    number: orphan.number ?? undefined,
    reference: reference === null || referenceBits === null ? undefined : { value: reference, bits: referenceBits },
    doneAt: orphan.doneAt ?? undefined,
  };
}

/** Receipts read by one query. */
const MAX_LOOKS = 1_000;

interface RematchOptions extends SettleOptions {
  /** Receipts from before are considered only if several parts matched. */
  readonly since: number;
  /** Receipts that match several parts are considered only after this instant. */
  readonly ambiguousSince: number;
}

/**
 * Matches receipts again that arrived before another process stored their part as taken, or before the part was known
 * to be uncertain, and receipts that matched several parts. Returns the parts that ended.
 */
export async function rematchOrphans(trx: Transaction<Schema>, options: RematchOptions): Promise<readonly number[]> {
  const { since, ambiguousSince } = options;
  const recent = sql`select ${ORPHAN} from sms_receipt as r where r.part_id is null and r.received_at > ${since}`;
  // Each side is computed first: a number may have a hundred thousand messages, few of which are in doubt.
  const looks: readonly RawBuilder<Orphan>[] = [
    // The aggregate keeps both engines from reading all parts.
    sql`select r.* from (${recent}) as r, ${rowsOf(trx, sql`r."carrierKeys"`)} where (
        select max(p.id + 0) from sms_part as p join sms_message as m on m.id = p.message_id
        where p.carrier_key = value ->> 0 and p.connector_id = r."connectorId"
          and (r.number is null or r.number = m.destination)) is not null limit ${MAX_LOOKS}`,
    sql`with waiting as materialized (${recent}),
      doubted as materialized (select p.connector_id, p.submitted_at, m.destination from sms_part as p
        join sms_message as m on m.id = p.message_id where p.state = 'uncertain' and p.carrier_key is null)
      select r.* from waiting as r where exists (select 1 from doubted as p where p.destination = r.number
        and p.connector_id = r."connectorId" and r."receivedAt" >= p.submitted_at) order by r.id limit ${MAX_LOOKS}`,
    sql`select ${ORPHAN} from sms_receipt as r where r.part_id is null and r.unmatched = 'ambiguous' and r.unmatched <> ''
        and r.received_at > ${ambiguousSince} order by r.received_at desc limit ${MAX_LOOKS}`,
  ];
  const found: Orphan[] = [];
  for (const look of looks) found.push(...(await look.execute(trx)).rows);
  return await settleOrphans(trx, found, options);
}

export interface UnmatchedReceipts {
  readonly connectorId: number;
  readonly reason: 'number' | 'ambiguous';
  readonly count: number;
}

/**
 * Returns receipts to report, each once: those for other numbers, and those from before `ambiguousUntil` that still
 * match several parts.
 */
export async function takeUnmatched(
  trx: Transaction<Schema>,
  ambiguousUntil: number,
): Promise<readonly UnmatchedReceipts[]> {
  const taken: UnmatchedReceipts[] = [];
  for (const [reason, until] of [
    ['number', Number.MAX_SAFE_INTEGER],
    ['ambiguous', ambiguousUntil],
  ] as const) {
    const { rows } = await sql<{ connectorId: number }>`
      update sms_receipt set unmatched = ${reason + REPORTED} where part_id is null and id in (
        select id from sms_receipt where part_id is null and unmatched = ${reason} and unmatched <> '' and received_at <= ${until}
        order by received_at limit ${MAX_LOOKS}) returning connector_id as "connectorId"`.execute(trx);
    const byConnector = Map.groupBy(rows, ({ connectorId }) => connectorId);
    taken.push(...[...byConnector].map(([connectorId, own]) => ({ connectorId, reason, count: own.length })));
  }
  return taken;
}

/** Suffix of the reason once it was reported. */
const REPORTED = ' reported';

function isReported({ unmatched }: Orphan): boolean {
  return unmatched.endsWith(REPORTED);
}
