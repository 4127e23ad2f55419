/**
 * What carriers tell of parts later. A receipt is stored whatever it speaks of; one that nothing fits waits for the answer it
 * overtook. docs/decisions/0223
 */
import { sql, type Transaction } from 'kysely';
import {
  type ChargeAt,
  isFinal,
  PART_STATES,
  type PartEvent,
  type PartState,
  partStatesThatAllow,
} from '#model/sms-part.ts';
import { prepare } from './prepared.ts';
import { rowList } from './row-list.ts';
import type { Row } from './rows-query.ts';
import type { Schema } from './schema.ts';
import { type EndedPart, settleParts } from './sms-money.ts';
import { stateOf } from './sms-part-state.ts';
import { runTogether } from './together.ts';

export interface StoredReceipt {
  readonly connectorId: number;
  /** Forms of the message id that its part may be stored under, the likeliest first; empty: the carrier named none. */
  readonly carrierKeys: readonly string[];
  /** The part's id modulo 2^`bits`; absent: the carrier does not return it. */
  readonly reference?: { readonly value: number; readonly bits: number };
  /** Where the message went: E.164 when the address can be read so, else as the carrier wrote it. */
  readonly destination: string;
  /** The same number, E.164 with `+`; absent: the receipt names none that can be read. */
  readonly number?: string;
  readonly state: ReceiptState;
  /** What the part's `error` becomes when this receipt ends it. */
  readonly error: string;
  /** The carrier's word as it came; empty: none. */
  readonly word: string;
  /** By the carrier's clock; absent: it did not say. */
  readonly submittedAt?: number;
  readonly doneAt?: number;
  /** As it came, for people. */
  readonly raw: string;
}

/** `onTheWay`: not the last word. */
export type ReceiptState = 'onTheWay' | 'delivered' | 'failed' | 'expired' | 'unknown';

/** In the order in which they are stored. */
const ENDS = ['delivered', 'failed', 'expired', 'unknown'] as const;

/** How long a carrier's ids mean the part that got one last; some begin anew when they restart. */
const ID_LIFE_MS = 7 * 24 * 3600 * 1000;

/** Gives the parts that came to an end by it. */
export async function storeReceipts(
  trx: Transaction<Schema>,
  receipts: readonly StoredReceipt[],
  now: number,
  chargeAt: ChargeAt,
): Promise<readonly number[]> {
  if (receipts.length === 0) return [];
  const byId = await matchById(trx, receipts, now);
  const uncertain = await findUncertain(
    trx,
    receipts.filter((_, n) => !byId.has(n)),
    now,
  );
  const fates: Fate[] = [];
  const rows: Row[] = [];
  for (const [n, receipt] of receipts.entries()) {
    const partId = byId.get(n) ?? meant(uncertain.get(placeOf(receipt)) ?? [], receipt.reference?.value);
    rows.push(rowOf(receipt, partId, now));
    const { carrierKeys, state, error, word, doneAt = null } = receipt;
    const [carrierKey = ''] = carrierKeys;
    if (partId !== undefined) fates.push({ partId, state, error, word, carrierKey, doneAt, receivedAt: now });
  }
  await sql`
    insert into sms_receipt (connector_id, carrier_key, destination, number, reference, reference_bits, state, error, word, raw,
        received_at, part_id, submitted_at, done_at)
      select cast(value ->> 0 as integer), value ->> 1, value ->> 2, value ->> 3, cast(value ->> 4 as integer),
        cast(value ->> 5 as integer), value ->> 6, value ->> 7, value ->> 8, value ->> 9, cast(value ->> 10 as bigint),
        cast(value ->> 11 as bigint), cast(value ->> 12 as bigint), cast(value ->> 13 as bigint)
      from ${rowList(trx, rows)}`.execute(trx);
  return await applyFates(trx, fates, now, chargeAt);
}

function rowOf(receipt: StoredReceipt, partId: number | undefined, now: number): Row {
  const { connectorId, carrierKeys, destination, number, reference, state, error, word, raw } = receipt;
  return [
    ...[connectorId, carrierKeys[0] ?? '', destination, number ?? null],
    ...[reference?.value ?? null, reference?.bits ?? null, state, error, word, raw],
    ...[now, partId ?? null, receipt.submittedAt ?? null, receipt.doneAt ?? null],
  ];
}

/**
 * `parts`: ids, and the forms of their carrier's ids that a receipt may be stored under, as their answers tell. Gives the fates
 * that receipts have for them which overtook the answer: see `applyFates`.
 */
export const takeOrphans = prepare({ parts: 'rows' }, ({ parts }) => {
  // One from before the part went out speaks of another that had the same id.
  return sql<OrphanFate>`
    update sms_receipt set part_id = p.id
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as carrier_key from ${parts}) as v
      join sms_part as p on p.id = v.id
    where sms_receipt.part_id is null and sms_receipt.carrier_key = v.carrier_key
      and sms_receipt.connector_id = p.connector_id and sms_receipt.received_at >= p.submitted_at
    returning sms_receipt.id as "receiptId", sms_receipt.part_id as "partId", sms_receipt.state as state, sms_receipt.error as error, sms_receipt.word as word,
      sms_receipt.carrier_key as "carrierKey", sms_receipt.done_at as "doneAt", sms_receipt.received_at as "receivedAt"`;
});

interface RematchOptions {
  /** Receipts that came before are left alone. */
  readonly since: number;
  readonly now: number;
  readonly chargeAt: ChargeAt;
}

/**
 * Receipts that came before their part was stored as taken, by another process, or before it was known to be uncertain. Gives
 * the parts that came to an end.
 */
export async function rematchOrphans(
  trx: Transaction<Schema>,
  { since, now, chargeAt }: RematchOptions,
): Promise<readonly number[]> {
  const { rows } = await sql<{ id: number; key: string }>`
    select p.id as id, p.carrier_key as key from sms_receipt as r join sms_part as p on p.carrier_key = r.carrier_key
      and p.connector_id = r.connector_id
    where r.part_id is null and r.carrier_key <> '' and r.received_at > ${since} and r.received_at >= p.submitted_at
    limit 1000`.execute(trx);
  const parts = rows.map(({ id, key }) => [id, key]);
  const [fates] = await runTogether(trx, [parts.length > 0 ? takeOrphans({ parts }) : undefined] as const);
  const byId = await applyFates(trx, inOrderOfArrival(fates), now, chargeAt);
  return [...byId, ...(await settleUncertain(trx, since, now, chargeAt))];
}

async function settleUncertain(
  trx: Transaction<Schema>,
  since: number,
  now: number,
  chargeAt: ChargeAt,
): Promise<readonly number[]> {
  // Both sides by themselves first: a number may have had a hundred thousand messages, few of which are in doubt.
  const { rows } = await sql<Orphan>`
    with waiting as materialized (
      select id, connector_id, destination, reference, state, error, word, carrier_key, done_at, received_at from sms_receipt
      where part_id is null and received_at > ${since}),
    doubted as materialized (
      select p.id, p.connector_id, p.submitted_at, m.destination from sms_part as p join sms_message as m on m.id = p.message_id
      where p.state = 'uncertain' and p.carrier_key is null)
    select r.id as "receiptId", r.reference as reference, r.state as state, r.error as error, r.word as word,
      r.carrier_key as "carrierKey", r.done_at as "doneAt", r.received_at as "receivedAt", p.id as "partId"
    from waiting as r join doubted as p on p.destination = r.destination and p.connector_id = r.connector_id
      and r.received_at >= p.submitted_at
    order by r.id, p.id limit 1000`.execute(trx);
  const fates: Fate[] = [];
  const taken = new Set<number>();
  for (const [receiptId, candidates] of Map.groupBy(rows, (row) => row.receiptId)) {
    const reference = candidates[0]?.reference ?? undefined;
    const partId = meant(
      candidates.map((candidate) => candidate.partId).filter((id) => !taken.has(id)),
      reference,
    );
    const fate = candidates.find((candidate) => candidate.partId === partId);
    if (fate === undefined) continue;
    taken.add(fate.partId);
    fates.push(fate);
    await trx.updateTable('sms_receipt').set({ part_id: fate.partId }).where('id', '=', receiptId).execute();
  }
  return await applyFates(trx, fates, now, chargeAt);
}

/** Of a receipt that is stored. */
interface OrphanFate extends Fate {
  readonly receiptId: number;
}

/** They come in any order. */
export function inOrderOfArrival(orphans: readonly OrphanFate[]): readonly OrphanFate[] {
  return orphans.toSorted((a, b) => a.receiptId - b.receiptId);
}

interface Orphan extends OrphanFate {
  readonly reference: number | null;
}

interface Fate {
  readonly partId: number;
  readonly state: ReceiptState;
  readonly error: string;
  readonly word: string;
  readonly carrierKey: string;
  /** By the carrier's clock. */
  readonly doneAt: number | null;
  readonly receivedAt: number;
}

/** Which receipt, by its place in the list, speaks of which part: by its likeliest key, of the part that got it last. */
async function matchById(trx: Transaction<Schema>, receipts: readonly StoredReceipt[], now: number) {
  const asked = receipts.flatMap(({ connectorId, carrierKeys }, n) =>
    carrierKeys.map((key, rank) => [n, rank, connectorId, key]),
  );
  if (asked.length === 0) return new Map<number, number>();
  const [found] = await runTogether(trx, [selectByKeys({ asked, since: now - ID_LIFE_MS })] as const);
  // The likeliest comes last, and stays.
  return new Map(found.toSorted((a, b) => b.rank - a.rank).map(({ n, partId }) => [n, partId]));
}

const selectByKeys = prepare({ asked: 'rows', since: 'value' }, ({ asked, since }) => {
  // `+ 0`: else PostgreSQL may look for the greatest id by going through the ids.
  return sql<{ n: number; rank: number; partId: number }>`
    select n, rank, part_id as "partId" from (
      select cast(value ->> 0 as integer) as n, cast(value ->> 1 as integer) as rank,
        (select max(p.id + 0) from sms_part as p where p.carrier_key = value ->> 3
          and p.connector_id = cast(value ->> 2 as integer) and p.submitted_at > ${since}) as part_id
      from ${asked}) as v
    where part_id is not null`;
});

/** Parts whose answer was lost, and which have no id therefore, by the number that these receipts speak of. */
async function findUncertain(trx: Transaction<Schema>, receipts: readonly StoredReceipt[], now: number) {
  const places = new Map(receipts.map((receipt) => [placeOf(receipt), [receipt.connectorId, receipt.destination]]));
  if (places.size === 0) return new Map<string, number[]>();
  const { rows } = await sql<{ id: number; connectorId: number; destination: string }>`
    select p.id as id, p.connector_id as "connectorId", m.destination as destination
    from ${rowList(trx, [...places.values()])} join sms_message as m on m.destination = value ->> 1
      join sms_part as p on p.message_id = m.id and p.connector_id = cast(value ->> 0 as integer)
    where p.carrier_key is null and p.state = 'uncertain' and p.submitted_at > ${now - ID_LIFE_MS}
    order by p.id limit 10000`.execute(trx);
  const byPlace = Map.groupBy(rows, placeOf);
  return new Map([...byPlace].map(([place, own]): [string, number[]] => [place, own.map(({ id }) => id)]));
}

function placeOf({ connectorId, destination }: Pick<StoredReceipt, 'connectorId' | 'destination'>): string {
  return `${connectorId} ${destination}`;
}

/**
 * Of parts on their way to one number. The reference that went with a part tells it; without one it is meant if it is the only one.
 */
function meant(partIds: readonly number[], reference: number | undefined): number | undefined {
  if (reference !== undefined) return partIds.find((id) => id % REFERENCES === reference);
  return partIds.length === 1 ? partIds[0] : undefined;
}

/** `user_message_reference` has 16 bits. */
const REFERENCES = 0x10000;

/**
 * In the order in which they came: of a part the first end holds, with its word; until then the last word is kept. Returns the
 * parts that came to an end.
 */
export async function applyFates(
  trx: Transaction<Schema>,
  fates: readonly Fate[],
  now: number,
  chargeAt: ChargeAt,
): Promise<readonly number[]> {
  await keepWords(
    trx,
    fates.filter(({ state }) => state === 'onTheWay'),
  );
  const ends = Map.groupBy(
    fates.filter(({ state }) => state !== 'onTheWay'),
    ({ partId }) => partId,
  );
  const first = [...ends.values()].flatMap((own) => own.slice(0, 1));
  const ended: EndedPart[] = [];
  for (const state of ENDS) {
    const rows = first
      .filter((fate) => fate.state === state)
      .map((fate) => [fate.partId, fate.error, fate.carrierKey, endOf(fate), fate.word] as const);
    if (rows.length === 0) continue;
    const [done] = await runTogether(trx, [UPDATES[state]({ rows, partIds: rows.map(([id]) => id) })] as const);
    ended.push(...done.map(({ id }) => ({ id, state })));
  }
  await settleParts(trx, ended, chargeAt, now);
  return ended.map(({ id }) => id);
}

/** Words that end nothing. A part that has ended keeps the word that ended it. */
async function keepWords(trx: Transaction<Schema>, fates: readonly Fate[]): Promise<void> {
  const last = new Map(fates.flatMap(({ partId, word }) => (word === '' ? [] : [[partId, word] as const])));
  if (last.size === 0) return;
  await runTogether(trx, [updateWords({ rows: [...last], partIds: [...last.keys()] })] as const);
}

const ON_THE_WAY = PART_STATES.filter((state) => !isFinal(state)).map((state) => sql.lit(state));

const updateWords = prepare({ rows: 'rows', partIds: 'ids' }, ({ rows, partIds }) => {
  return sql`
    update sms_part set last_word = v.word
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as word from ${rows}) as v
    where sms_part.id = v.id and sms_part.id ${partIds} and ${stateOf('sms_part')} in (${sql.join(ON_THE_WAY)})`;
});

const UPDATES = {
  delivered: updateEnded('delivered', 'deliver'),
  failed: updateEnded('failed', 'undeliver'),
  expired: updateEnded('expired', 'expire'),
  unknown: updateEnded('unknown', 'giveUp'),
};

/** The ids are there twice: by them alone PostgreSQL sees how few there are. */
function updateEnded(state: PartState, event: PartEvent) {
  const allowed = partStatesThatAllow(event).filter((from) => from !== 'queued');
  return prepare({ rows: 'rows', partIds: 'ids' }, ({ rows, partIds }) => {
    return sql<{ id: number }>`
      update sms_part set state = ${sql.lit(state)}, error = v.error, last_word = v.word,
        carrier_key = coalesce(sms_part.carrier_key, v.carrier_key),
        done_at = case when v.done_at < sms_part.submitted_at then sms_part.submitted_at else v.done_at end
      from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error, value ->> 2 as carrier_key,
        cast(value ->> 3 as bigint) as done_at, value ->> 4 as word from ${rows}) as v
      where sms_part.id = v.id and sms_part.id ${partIds} and ${stateOf('sms_part')} in (${sql.join(allowed.map((from) => sql.lit(from)))})
      returning sms_part.id as id`;
  });
}

/** The carrier's clock may be ahead, or in another zone than its connector says; many of them tell minutes only. */
function endOf({ doneAt, receivedAt }: Pick<Fate, 'doneAt' | 'receivedAt'>): number {
  return Math.min(doneAt ?? receivedAt, receivedAt);
}
