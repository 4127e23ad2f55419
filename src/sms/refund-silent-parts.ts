/**
 * Parts in doubt of connectors with `unknown_after: refund`: refunded if the carrier sends receipts for its other parts
 * and has sent none for this one. docs/decisions/0426
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import { endInDoubt, findLongInDoubt, type ReceiptShare, readReceiptShare } from '#db/tables/sms/silent-parts.ts';
import { DAY_MS } from '#lib/durations.ts';
import type { SmsTools } from './tools.ts';

/** Fewest parts of a day from which a carrier's share of receipts is judged. */
const MIN_PARTS = 200;
const MIN_SHARE = 0.99;
/** Rows per transaction, for which everything else waits on SQLite. */
const BATCH = 500;

/** Whether the carrier reports so many of its parts that a part without a receipt was not accepted. Pure. */
export function isReliable({ reported, unreported }: ReceiptShare): boolean {
  return reported + unreported >= MIN_PARTS && reported >= reportedNeeded(unreported);
}

function reportedNeeded(unreported: number): number {
  return Math.max(MIN_PARTS - unreported, Math.ceil((unreported * MIN_SHARE) / (1 - MIN_SHARE) - 1e-6));
}

export interface RefundOptions extends Pick<SmsTools, 'db' | 'chargeAt'> {
  readonly now: number;
  /** Time to wait for a receipt of a part. */
  readonly receiptMs: number;
  /** Runs `take` in a transaction, and queues the webhook deliveries of the parts that it ends. */
  end(take: (trx: Transaction<Schema>, now: number) => Promise<readonly number[]>): Promise<void>;
}

/** Returns the connectors whose parts in doubt are ended by this function alone, a batch in each sweep. */
export async function refundSilentParts({
  db,
  now,
  receiptMs,
  chargeAt,
  end,
}: RefundOptions): Promise<readonly number[]> {
  const connectors = (await listConnectors(db.query)).filter(
    ({ settings }) => settings.kind !== 'loopback' && settings.unknownAfter === 'refund',
  );
  for (const { id: connectorId } of connectors) {
    // These queries may read many rows, so they run beside the writer.
    const parts = await findLongInDoubt(db.lookUps, { connectorId, submittedUntil: now - receiptMs, limit: BATCH });
    const silent = parts.filter(({ hasSign }) => !hasSign);
    const isRefunded =
      silent.length > 0 && isReliable(await readReceiptShare(db.lookUps, connectorId, now - DAY_MS, reportedNeeded));
    const refunded = isRefunded ? silent : [];
    const others = parts.filter((part) => !refunded.includes(part));
    for (const [ended, options] of [
      [refunded, { chargeAt, isRefunded: true }],
      [others, { chargeAt, isRefunded: false }],
    ] as const) {
      const ids = ended.map(({ id }) => id);
      if (ids.length > 0) await end((trx, at) => endInDoubt(trx, ids, { ...options, now: at }));
    }
  }
  return connectors.map(({ id }) => id);
}
