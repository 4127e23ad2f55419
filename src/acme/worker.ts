/** Works on due orders, several at a time, each under a lease. Several processes on one database share them. */
import type { Controls } from '#db/peers/peers.ts';
import { claimOrders, freeOrders, giveOrdersBack, hasDueOrders } from '#db/tables/certificate-orders.ts';
import { startRounds } from '#lib/rounds.ts';
import { correctOrders } from './clock-back.ts';
import { type WorkParts, workOrder } from './work.ts';

export interface WorkerParts extends WorkParts {
  /** The controls that share the database. */
  readonly peers: Pick<Controls, 'mayClaim'>;
}

const MAX_UNDER_WAY = 8;
/** Limit of one step. */
const STEP_LIMIT_MS = 60_000;
/** Lease of an order, longer than a step, so that no other process takes it meanwhile. */
const LEASE_MS = 2 * STEP_LIMIT_MS;
const POLL_MS = 500;
/** Delay after a failure of the database or the key ring; other orders get their turn meanwhile. */
const RETRY_MS = 2_000;

export async function startAcmeWorker(parts: WorkerParts): Promise<AsyncDisposable> {
  return startRounds({
    everyMs: POLL_MS,
    work: await createAcmeRound(parts),
    onFailure(error, isRepeated) {
      if (!isRepeated) parts.log.error({ err: error }, 'cannot process certificate orders; retrying');
    },
  });
}

/**
 * Returns the function that works on all orders that are due or become due meanwhile. It rejects if the database does
 * not answer. Calls may not overlap.
 */
export async function createAcmeRound(parts: WorkerParts): Promise<(stopping: AbortSignal) => Promise<void>> {
  const { db, owner, clock } = parts;
  /** Whether the last round failed, so that we may still hold leases. */
  let isOwing = false;
  if (db.engine === 'sqlite') await freeOrders(db.query);
  return async (stopping) => {
    if (isOwing) await giveOrdersBack(db.query, { owner, now: clock(), waitMs: RETRY_MS });
    isOwing = true;
    await workOnDue(parts, stopping);
    isOwing = false;
  };
}

async function workOnDue(parts: WorkerParts, stopping: AbortSignal): Promise<void> {
  const { db, clock, owner, log } = parts;
  await correctOrders({ db, log, now: clock(), leaseMs: LEASE_MS });
  while (!stopping.aborted && parts.peers.mayClaim && (await hasDueOrders(db.query, clock()))) {
    const now = clock();
    const claim = { owner, leaseUntil: now + LEASE_MS, now, limit: MAX_UNDER_WAY };
    const orders = await db.transaction((trx) => claimOrders(trx, claim));
    if (orders.length === 0) return;
    const done = await Promise.allSettled(
      orders.map((order) => workOrder(parts, order, AbortSignal.any([stopping, AbortSignal.timeout(STEP_LIMIT_MS)]))),
    );
    const failed = done.find((one) => one.status === 'rejected');
    if (failed !== undefined) throw failed.reason;
  }
}
