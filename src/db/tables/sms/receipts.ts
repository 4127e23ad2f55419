/**
 * Delivery receipts. A receipt is stored whether or not it matches a part; one that matches none or several waits: see
 * `orphans.ts`. docs/decisions/0223
 */
import { sql, type Transaction } from 'kysely';
import { type ChargeAt, isFinal, PART_EVENTS, PART_STATES, type PartEvent, REVISABLE_MS } from '#model/sms-part.ts';
import type { Match } from '#model/sms-receipt-match.ts';
import type { RowValues } from '../../engines/sqlite/messages.ts';
import type { Schema } from '../../schema/schema.ts';
import { runBatch } from '../../statements/batch.ts';
import { rowList } from '../../statements/lists.ts';
import { statement } from '../../statements/statement.ts';
import { matchReceipts, type ReceiptToMatch } from './matching.ts';
import { type EndedPart, settleParts } from './money.ts';
import { stateOf } from './part-state.ts';

export interface StoredReceipt {
  readonly connectorId: number;
  /** Forms of the message id that the part may be stored under, likeliest first; empty if the carrier named none. */
  readonly carrierKeys: readonly string[];
  /** Number of keys at the end of the list that are equally likely; absent: 0. */
  readonly equalKeys?: number;
  /** The part's id modulo 2^`bits`; absent: the carrier does not return it. */
  readonly reference?: { readonly value: number; readonly bits: number };
  /** Destination of the message: E.164 if the address can be parsed, otherwise as received. */
  readonly destination: string;
  /** The same number, E.164 with `+`; absent if the receipt has none that can be parsed. */
  readonly number?: string;
  readonly state: ReceiptOutcome;
  /** The part's `error` if this receipt ends it. */
  readonly error: string;
  /**
   * The carrier's word as received, such as `DELIVRD`, `UNDELIV/027` or `MK:0012`: printable ASCII, at most 40
   * characters; empty if there is none.
   */
  readonly word: string;
  /** Instant by the carrier's clock; absent if the receipt has none or it cannot be parsed. */
  readonly submittedAt?: number;
  readonly doneAt?: number;
  /** Text as received, for operators to read. */
  readonly raw: string;
}

/** `onTheWay`: an intermediate state. */
export type ReceiptOutcome = 'onTheWay' | 'delivered' | 'failed' | 'expired' | 'unknown';

/** Final states in the order in which they are stored. */
const ENDS = ['delivered', 'failed', 'expired', 'unknown'] as const;

/** Stores receipts. Returns the parts that they ended. */
export async function storeReceipts(
  trx: Transaction<Schema>,
  receipts: readonly StoredReceipt[],
  now: number,
  chargeAt: ChargeAt,
): Promise<readonly number[]> {
  if (receipts.length === 0) return [];
  const asked = receipts.map((receipt) => toMatch(receipt, now));
  const matches = await matchReceipts(trx, asked, now, () => Number.POSITIVE_INFINITY);
  const fates: Fate[] = [];
  const rows: RowValues[] = [];
  for (const [n, receipt] of receipts.entries()) {
    const match = matches[n] ?? UNKNOWN;
    rows.push(rowOf(receipt, match, now));
    if (match.kind !== 'part') continue;
    const { carrierKeys, state, error, word, doneAt = null } = receipt;
    const [carrierKey = ''] = carrierKeys;
    fates.push({ partId: match.partId, state, error, word, carrierKey, doneAt, receivedAt: now });
  }
  await sql`
    insert into sms_receipt (connector_id, carrier_key, destination, number, reference, reference_bits, state, error, word, raw,
        received_at, part_id, submitted_at, done_at, carrier_keys, equal_keys, unmatched)
      select cast(value ->> 0 as integer), value ->> 1, value ->> 2, value ->> 3, cast(value ->> 4 as integer),
        cast(value ->> 5 as integer), value ->> 6, value ->> 7, value ->> 8, value ->> 9, cast(value ->> 10 as bigint),
        cast(value ->> 11 as bigint), cast(value ->> 12 as bigint), cast(value ->> 13 as bigint), value ->> 14,
        cast(value ->> 15 as integer), value ->> 16
      from ${rowList(trx, rows)}`.execute(trx);
  return await applyFates(trx, fates, now, chargeAt);
}

const UNKNOWN: Match = { kind: 'waits', reason: 'unknown' };

function toMatch(receipt: StoredReceipt, now: number): ReceiptToMatch {
  const { connectorId, carrierKeys: keys, equalKeys = 0, number, reference, doneAt, state } = receipt;
  return { connectorId, keys, equalKeys, number, reference, doneAt, receivedAt: now, isEnd: state !== 'onTheWay' };
}

function rowOf(receipt: StoredReceipt, match: Match, now: number): RowValues {
  const { connectorId, carrierKeys, destination, number, reference, state, error, word, raw } = receipt;
  const isMatched = match.kind === 'part';
  return [
    ...[connectorId, carrierKeys[0] ?? '', destination, number ?? null],
    ...[reference?.value ?? null, reference?.bits ?? null, state, error, word, raw],
    ...[now, isMatched ? match.partId : null, receipt.submittedAt ?? null, receipt.doneAt ?? null],
    ...[isMatched ? '[]' : JSON.stringify(carrierKeys.map((key) => [key])), receipt.equalKeys ?? 0],
    isMatched || match.reason === 'unknown' ? '' : match.reason,
  ];
}

/** The effect of a receipt on its part. */
export interface Fate {
  readonly partId: number;
  readonly state: ReceiptOutcome;
  readonly error: string;
  readonly word: string;
  readonly carrierKey: string;
  /** Instant by the carrier's clock. */
  readonly doneAt: number | null;
  readonly receivedAt: number;
}

/**
 * Applies fates in order of arrival. The first end of a part is final, together with its word, but a definite end
 * replaces `unknown`. Until then the last word is kept. Returns the ids of the parts that have ended.
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
  // A definite state takes precedence over `unknown`.
  const first = [...ends.values()].flatMap((own) => own.find(({ state }) => state !== 'unknown') ?? own.slice(0, 1));
  const ended: EndedPart[] = [];
  for (const state of ENDS) {
    const rows = first
      .filter((fate) => fate.state === state)
      .map((fate) => [fate.partId, fate.error, fate.carrierKey, endOf(fate), fate.word] as const);
    if (rows.length === 0) continue;
    const [done] = await runBatch(trx, [UPDATES[state]({ rows, partIds: rows.map(([id]) => id), now })] as const);
    ended.push(...done.map(({ id }) => ({ id, state })));
  }
  // A part that a word made `unknown` may be revised; it is refunded only when that time is over.
  const settled = chargeAt === 'submit' ? ended : ended.filter(({ state }) => state !== 'unknown');
  await settleParts(trx, settled, chargeAt, now);
  return ended.map(({ id }) => id);
}

/** Stores words of intermediate states. A part that has ended keeps its last word. */
async function keepWords(trx: Transaction<Schema>, fates: readonly Fate[]): Promise<void> {
  const last = new Map(fates.flatMap(({ partId, word }) => (word === '' ? [] : [[partId, word] as const])));
  if (last.size === 0) return;
  await runBatch(trx, [updateWords({ rows: [...last], partIds: [...last.keys()] })] as const);
}

const ON_THE_WAY = PART_STATES.filter((state) => !isFinal(state)).map((state) => sql.lit(state));

const updateWords = statement({ rows: 'rows', partIds: 'ids' }, ({ rows, partIds }) => {
  return sql`
    update sms_part set last_word = v.word
    from (select cast(value ->> 0 as bigint) as id, value ->> 1 as word from ${rows}) as v
    where sms_part.id = v.id and sms_part.id ${partIds} and ${stateOf('sms_part')} in (${sql.join(ON_THE_WAY)})`;
});

const UPDATES = {
  delivered: updateEnded('deliver'),
  failed: updateEnded('undeliver'),
  expired: updateEnded('expire'),
  unknown: updateEnded('giveUp'),
};

/** The ids are passed separately, too: only from them does PostgreSQL see how few parts there are. */
function updateEnded(event: PartEvent) {
  const { from, to } = PART_EVENTS[event];
  const allowed = from.filter((state) => state !== 'queued');
  const isUnknown = to === 'unknown';
  return statement({ rows: 'rows', partIds: 'ids', now: 'value' }, ({ rows, partIds, now }) => {
    const revised = isUnknown
      ? sql``
      : sql`or (${stateOf('sms_part')} = 'unknown' and sms_part.revisable_until > ${now})`;
    return sql<{ id: number }>`
      update sms_part set state = ${sql.lit(to)}, error = v.error, last_word = v.word,
        revisable_until = ${isUnknown ? sql`sms_part.submitted_at + ${sql.lit(REVISABLE_MS)}` : sql`null`},
        carrier_key = coalesce(sms_part.carrier_key, v.carrier_key),
        done_at = case when v.done_at < sms_part.submitted_at then sms_part.submitted_at else v.done_at end
      from (select cast(value ->> 0 as bigint) as id, value ->> 1 as error, value ->> 2 as carrier_key,
        cast(value ->> 3 as bigint) as done_at, value ->> 4 as word from ${rows}) as v
      where sms_part.id = v.id and sms_part.id ${partIds}
        and (${stateOf('sms_part')} in (${sql.join(allowed.map((state) => sql.lit(state)))}) ${revised})
      returning sms_part.id as id`;
  });
}

/** The end of the part. The carrier's clock may be ahead or in another zone than configured; many give minutes only. */
function endOf({ doneAt, receivedAt }: Pick<Fate, 'doneAt' | 'receivedAt'>): number {
  return Math.min(doneAt ?? receivedAt, receivedAt);
}
