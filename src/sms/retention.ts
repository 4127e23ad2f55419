/**
 * Deletes expired SMS requests, receipts and replies, and webhook deliveries that failed for good. docs/decisions/0286
 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { deleteOldDeliveries, deleteOldRequests, deleteOldTalk } from '#db/tables/sms/retention.ts';
import { DAY_MS } from '#lib/durations.ts';

/**
 * Retention of deliveries, longer than all attempts of one take. If thousands wait for one address, they expire before
 * they use up their attempts.
 */
const DELIVERY_MS = 2 * DAY_MS;
/**
 * Retention of unmatched receipts: no part is matched so late. Where a carrier's account is shared, most receipts are.
 */
const UNMATCHED_MS = 7 * DAY_MS;
/** Pause after each transaction, so that other transactions get their turn. */
const PAUSE_MS = 20;

/**
 * Resolves when everything that has expired at `now` is deleted; rejects if `signal` aborts. `smsDays`: retention in
 * days.
 */
export async function forgetOldSms(
  { db, smsDays }: { readonly db: Db; readonly smsDays: number },
  now: number,
  signal: AbortSignal,
): Promise<void> {
  const before = now - smsDays * DAY_MS;
  const rest = () => delay(PAUSE_MS, undefined, { signal });
  for (let after: number | undefined = 0; after !== undefined; await rest()) {
    const from: number = after;
    after = await db.transaction((trx) => deleteOldRequests(trx, { before, after: from }));
  }
  const talk = { before, unmatchedBefore: now - UNMATCHED_MS };
  while (await db.transaction((trx) => deleteOldTalk(trx, talk))) await rest();
  while (await db.transaction((trx) => deleteOldDeliveries(trx, now - DELIVERY_MS))) await rest();
}
