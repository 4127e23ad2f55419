/** Forgets requests, receipts and replies of SMS when their time is over, and webhooks that nobody took. docs/decisions/0286 */
import { setTimeout as delay } from 'node:timers/promises';
import type { Db } from '#db/open.ts';
import { deleteOldDeliveries, deleteOldRequests, deleteOldTalk } from '#db/tables/sms/retention.ts';

const DAY_MS = 24 * 3_600_000;
/** Longer than the tries of one delivery take. Where thousands wait for one address, their turn comes too seldom to use them up. */
const DELIVERY_MS = 2 * DAY_MS;
/**
 * Retention of unmatched receipts: no part is matched so late. Where a carrier's account is shared they may be most.
 */
const UNMATCHED_MS = 7 * DAY_MS;
/** Pause after each transaction, for others that wait for the database. */
const PAUSE_MS = 20;

/** Resolves when nothing is left that is too old at `now`; rejects when `signal` aborts. `smsDays`: that are kept. */
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
