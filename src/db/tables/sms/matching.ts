/** Matches receipts to parts, many at once. This file reads the candidates; `model/` decides. docs/decisions/0427 */
import { sql, type Transaction } from 'kysely';
import type { PartState } from '#model/sms-part.ts';
import {
  type Candidate,
  type Match,
  matchByKey,
  matchReceipt,
  mayBeChance,
  type ReceiptClues,
} from '#model/sms-receipt-match.ts';
import { isPostgres } from '../../engines/engine.ts';
import type { Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { rowList } from '../../statements/lists.ts';
import { statement } from '../../statements/statement.ts';
import { stateOf } from './part-state.ts';

export interface ReceiptToMatch extends ReceiptClues {
  readonly connectorId: number;
  /** Whether it ends the part that it speaks of. */
  readonly isEnd: boolean;
}

/** How long a carrier's id refers to the part that got it last; some carriers start again from 1 when they restart. */
const ID_LIFE_MS = 7 * 24 * 3600 * 1000;
/** Maximum parts read for one id on PostgreSQL. More would be ambiguous in any case. */
const MAX_NAMED = 100;
/**
 * Limit of open parts read for the numbers of one batch. If it is reached, no receipt is matched by its number this
 * time.
 */
const MAX_OPEN = 10_000;

/**
 * Matches receipts in their order: what one receipt says of a part counts for the next. `answersAfterMs`: per
 * connector, see `matchReceipt`.
 */
export async function matchReceipts(
  trx: Transaction<Schema>,
  receipts: readonly ReceiptToMatch[],
  now: number,
  answersAfterMs: (connectorId: number) => number,
): Promise<readonly Match[]> {
  const named = await findNamed(trx, receipts, now);
  const isUnnamed = (receipt: ReceiptToMatch, n: number) => matchByKey(receipt, named.get(n) ?? []) === undefined;
  const open = await findOpen(trx, receipts.filter(isUnnamed), now);
  const isChance = (receipt: ReceiptToMatch, n: number) => mayBeChance(receipt) && named.has(n);
  const unanswered = receipts.some(isChance) ? await findUnanswered(trx, now) : new Map<string, readonly Candidate[]>();
  const changed = new Map<number, Candidate>();
  return receipts.map((receipt, n) => {
    const place = placeOf(receipt);
    const found = [...(named.get(n) ?? []), ...(open.get(place) ?? []), ...(unanswered.get(place) ?? [])];
    const candidates = new Map(found.map((it) => [it.partId, changed.get(it.partId) ?? it]));
    const isCut = (named.get(n)?.length ?? 0) >= MAX_NAMED;
    const match: Match = isCut
      ? { kind: 'waits', reason: 'ambiguous' }
      : matchReceipt(receipt, [...candidates.values()], { now, answersAfterMs: answersAfterMs(receipt.connectorId) });
    const part = match.kind === 'part' ? candidates.get(match.partId) : undefined;
    if (part !== undefined && receipt.isEnd)
      // Which end does not matter here.
      changed.set(part.partId, { ...part, state: 'delivered', key: part.key ?? receipt.keys[0] });
    return match;
  });
}

interface NamedRow extends Candidate {
  readonly n: number;
}

/** Finds parts, keyed by the index of the receipt in the list. */
async function findNamed(trx: Transaction<Schema>, receipts: readonly ReceiptToMatch[], now: number) {
  const asked = receipts.flatMap(({ connectorId, keys }, n) => keys.map((key) => [n, connectorId, key]));
  if (asked.length === 0) return new Map<number, readonly NamedRow[]>();
  const [found] = await runBatch(trx, [selectNamed({ asked, since: now - ID_LIFE_MS })] as const);
  return Map.groupBy(found, ({ n }) => n);
}

/**
 * `offset 0` and `limit` keep PostgreSQL, which cannot estimate the length of the list, from scanning a whole table.
 */
const selectNamed = statement({ asked: 'rows', since: 'value' }, ({ asked, since }, x) => {
  const key = sql`value ->> 2`;
  const own = sql`p.carrier_key = ${key} and p.connector_id = cast(value ->> 1 as integer) and p.submitted_at > ${since}`;
  const parts = isPostgres(x)
    ? sql`join lateral (select p.id, p.message_id, p.carrier_key, p.submitted_at, p.state from sms_part as p
        where ${own} limit ${sql.lit(MAX_NAMED)}) as p on true
      join lateral (select m.destination from sms_message as m where m.id = p.message_id offset 0) as m on true`
    : sql`join sms_part as p on ${own} join sms_message as m on m.id = p.message_id`;
  return sql<NamedRow>`
    select cast(value ->> 0 as integer) as n, p.id as "partId", p.carrier_key as key, m.destination as number,
      p.submitted_at as "submittedAt", p.state as state
    from ${asked} ${parts}`;
});

interface OpenRow {
  readonly partId: number;
  readonly connectorId: number;
  readonly key: string | null;
  readonly number: string;
  readonly submittedAt: number;
  readonly state: PartState;
}

/** Parts that were sent and have no final state, by connector and number; empty if there are `MAX_OPEN` or more. */
async function findOpen(trx: Transaction<Schema>, receipts: readonly ReceiptToMatch[], now: number) {
  const places = new Map(
    receipts.flatMap((receipt) =>
      receipt.number === undefined ? [] : [[placeOf(receipt), [receipt.connectorId, receipt.number]] as const],
    ),
  );
  if (places.size === 0) return new Map<string, readonly Candidate[]>();
  const { rows } = await sql<OpenRow>`
    select p.id as "partId", p.connector_id as "connectorId", p.carrier_key as key, m.destination as number,
      p.submitted_at as "submittedAt", p.state as state
    from ${rowList(trx, [...places.values()])} join sms_message as m on m.destination = value ->> 1
      join sms_part as p on p.message_id = m.id and p.connector_id = cast(value ->> 0 as integer)
    where ${stateOf('p')} in ('submitting', 'uncertain', 'submitted') and p.submitted_at > ${now - ID_LIFE_MS}
    limit ${MAX_OPEN}`.execute(trx);
  if (rows.length >= MAX_OPEN) return new Map<string, readonly Candidate[]>();
  const byPlace = Map.groupBy(rows, placeOf);
  return new Map(
    [...byPlace].map(([place, own]) => [place, own.map((row) => ({ ...row, key: row.key ?? undefined }))]),
  );
}

/** Longest time between sending a part and its response. */
const ANSWER_MS = 15 * 60 * 1000;

/** Parts whose response may still arrive, by connector and number. Windows and lost connections bound their count. */
async function findUnanswered(trx: Transaction<Schema>, now: number): Promise<Map<string, readonly Candidate[]>> {
  const [rows] = await runBatch(trx, [selectUnanswered({ since: now - ANSWER_MS })] as const);
  const byPlace = Map.groupBy(rows, placeOf);
  return new Map([...byPlace].map(([place, own]) => [place, own.map((row) => ({ ...row, key: undefined }))]));
}

/** One select per state, so that each uses its own index. */
const selectUnanswered = statement({ since: 'value' }, ({ since }) => {
  const part = sql`
    select p.id as "partId", p.connector_id as "connectorId", p.carrier_key as key, m.destination as number,
      p.submitted_at as "submittedAt", p.state as state
    from sms_part as p join sms_message as m on m.id = p.message_id`;
  return sql<OpenRow>`
    ${part} where p.state = 'submitting'
    union all ${part} where p.state = 'uncertain' and p.carrier_key is null and p.submitted_at > ${since}`;
});

function placeOf({
  connectorId,
  number,
}: {
  readonly connectorId: number;
  readonly number: string | undefined;
}): string {
  return `${connectorId} ${number}`;
}
