/**
 * Repairs instants in the future, written by a clock that was ahead, after it was set back: parts that were due when
 * they were accepted are due now, retries and leases keep their longest duration, and advertising its hours.
 * docs/decisions/0425
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import {
  type AccountQueue,
  bringBack,
  bringBackDeliveries,
  findPartsAhead,
  findQueuesAhead,
  type Instant,
  makePartsDue,
} from '#db/tables/sms/ahead.ts';
import { REVISABLE_MS } from '#model/sms-part.ts';
import { LONGEST_WEBHOOK_WAIT_MS } from '#webhooks/webhook-request.ts';
import { LEASE_MS } from './lease.ts';
import { LONGEST_RETRY_MS } from './outcome.ts';
import type { SmsTools } from './tools.ts';

/** Tolerated difference between the clocks of processes that share the database. */
const TOLERANCE_MS = 1_000;
/** Rows per transaction; on SQLite all other writes wait for it. */
const BATCH = 500;
const ORDINARY = 0;
/** Longest hold of advertising until its hours: a day, and another day if a clock change skips them. */
const LONGEST_HOLD_MS = 49 * 3_600_000;

/** How far in the future each instant may be. */
const LONGEST: readonly (readonly [Instant, number])[] = [
  ['lease', LEASE_MS],
  ['submitted', 0],
  ['uncertain', 0],
  ['receipt', 0],
  ['revisable', REVISABLE_MS],
];

/** Returns how many parts are due earlier, and how many other timestamps were corrected. */
export async function bringBackInstants(
  { db, clock }: Pick<SmsTools, 'db' | 'clock'>,
  signal: AbortSignal,
): Promise<{ readonly parts: number; readonly others: number }> {
  const inBatches = async (correct: (trx: Transaction<Schema>, now: number) => Promise<number>) => {
    let total = 0;
    for (let count = BATCH; count >= BATCH && !signal.aborted; total += count)
      count = await db.transaction((trx) => correct(trx, clock()));
    return total;
  };
  const limits = (now: number, longestMs: number) => ({ now, toleranceMs: TOLERANCE_MS, longestMs, limit: BATCH });
  const parts = await inBatches(bringBackParts);
  let others = 0;
  for (const [instant, longestMs] of LONGEST)
    others += await inBatches((trx, now) => bringBack(trx, instant, limits(now, longestMs)));
  others += await inBatches((trx, now) => bringBackDeliveries(trx, limits(now, LONGEST_WEBHOOK_WAIT_MS)));
  return { parts, others };
}

async function bringBackParts(trx: Transaction<Schema>, now: number): Promise<number> {
  let count = 0;
  for (const queue of await findQueuesAhead(trx, now + TOLERANCE_MS)) {
    if (count >= BATCH) break;
    count += await bringBackQueue(trx, queue, now, BATCH - count);
  }
  return count;
}

async function bringBackQueue(
  trx: Transaction<Schema>,
  queue: AccountQueue,
  now: number,
  limit: number,
): Promise<number> {
  const soon = now + LONGEST_RETRY_MS + TOLERANCE_MS;
  const retryUntil = queue.priority === ORDINARY ? soon : now + LONGEST_HOLD_MS;
  let count = 0;
  // Parts far in the future are searched for separately: the near ones may be many, and most are retries that stay.
  for (const range of [{ after: now + TOLERANCE_MS, until: soon }, { after: soon }]) {
    const late = await findPartsAhead(trx, queue, { ...range, retryUntil, limit: limit - count });
    count += await makePartsDue(trx, late, now);
    if (count >= limit) break;
  }
  return count;
}
