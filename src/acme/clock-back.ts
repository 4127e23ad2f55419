/**
 * Repairs orders that were written by a clock that was ahead, after it was set back: their waits keep their length, and
 * a renewal is no later than the certificate requires. docs/decisions/0467
 */

import type { Db } from '#db/open.ts';
import { bringBackOrders } from '#db/tables/certificate-orders.ts';
import type { Logger } from '#lib/logger.ts';
import { type CertificateOrder, NEVER_AT, type Validity } from '#model/certificate-order.ts';
import { renewalAt } from './schedule.ts';

/** Clocks of processes that share the database may differ by so much. */
const TOLERANCE_MS = 1_000;
/** Orders per transaction, for which everything else waits on SQLite. */
const BATCH = 100;
const WAS_AHEAD =
  'certificate orders have timestamps in the future: the clock of this or another control machine was ahead; correcting them';

export interface ClockBackOptions {
  readonly db: Db;
  readonly log: Logger;
  readonly now: number;
  /** The longest that a process holds an order. */
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
  /** The certificate that the domain had then. */
  readonly served: Validity | undefined;
}

/** Pure. What is given up stays given up. */
export function correctOrder(order: CertificateOrder, { writtenAt, now, served }: WrittenAhead): CertificateOrder {
  const { dueAt, renewAt, renewalWindow } = order;
  // A window that the authority suggested is kept: the next question to it chooses anew.
  const isOwn = served !== undefined && renewalWindow === undefined && renewAt !== 0;
  return {
    ...order,
    dueAt: dueAt === NEVER_AT ? NEVER_AT : dueAt - (writtenAt - now),
    renewAt: isOwn ? Math.min(renewAt, renewalAt(served, now, 0)) : renewAt,
  };
}
