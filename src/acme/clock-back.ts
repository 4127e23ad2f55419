/**
 * Repairs orders that were written by a clock that was ahead, after it was set back: their waits keep their length, and
 * a renewal is no later than the certificate requires. docs/decisions/0467
 */
import type { Db } from '#db/open.ts';
import { bringBackOrders } from '#db/tables/certificate-orders.ts';
import type { Logger } from '#lib/logger.ts';
import { type CertificateOrder, NEVER_AT, type Validity } from '#model/certificate-order.ts';
import { renewalAt } from './schedule.ts';

/** Tolerated difference between the clocks of processes that share the database. */
const TOLERANCE_MS = 1_000;
/** Orders per transaction; on SQLite all other writes wait for it. */
const BATCH = 100;
const WAS_AHEAD =
  'certificate orders have timestamps in the future: the clock of this or another control machine was ahead; correcting them';

export interface ClockBackOptions {
  readonly db: Db;
  readonly log: Logger;
  readonly now: number;
  /** Longest time that a process holds an order. */
  readonly leaseMs: number;
}

export async function correctOrders({ db, log, now, leaseMs }: ClockBackOptions): Promise<void> {
  const limits = { now, leaseMs, toleranceMs: TOLERANCE_MS, limit: BATCH };
  let total = 0;
  for (let count = BATCH; count >= BATCH; total += count)
    count = await db.transaction((trx) =>
      bringBackOrders(trx, limits, (order, writtenAt, served) => correctOrder(order, { writtenAt, served, now })),
    );
  if (total > 0) log.warn({ orders: total }, WAS_AHEAD);
}

export interface WrittenAhead {
  /** Instant by a clock that was ahead of `now`. */
  readonly writtenAt: number;
  readonly now: number;
  /** Certificate that the domain had then. */
  readonly served: Validity | undefined;
}

/** Returns the corrected order. Orders that were given up stay so. Pure. */
export function correctOrder(order: CertificateOrder, { writtenAt, now, served }: WrittenAhead): CertificateOrder {
  const { dueAt, renewAt, renewalWindow } = order;
  // A renewal suggested by the authority is kept: the next request for renewal information chooses again.
  const isOwn = served !== undefined && renewalWindow === undefined && renewAt !== 0;
  return {
    ...order,
    dueAt: dueAt === NEVER_AT ? NEVER_AT : dueAt - (writtenAt - now),
    renewAt: isOwn ? Math.min(renewAt, renewalAt(served, now, 0)) : renewAt,
  };
}
