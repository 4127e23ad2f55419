/**
 * Parts in doubt of connectors with `unknown_after: refund`: given back where the carrier tells of its other parts, and of this
 * one nobody has told anything. docs/decisions/0426
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { listConnectors } from '#db/tables/sms/connectors.ts';
import { endInDoubt, findLongInDoubt, readToldShare, type ToldShare } from '#db/tables/sms/no-sign.ts';
import type { SmsTools } from './tools.ts';

const DAY_MS = 24 * 3_600_000;
/** Parts from which on it can be told whether the carrier sends receipts. */
const MIN_PARTS = 200;
const MIN_SHARE = 0.99;
/** Rows per transaction, for which everything else waits on SQLite. */
const BATCH = 500;

/** Whether so many receipts say that a part without one was not taken. Pure. */
export function isReliable({ told, untold }: ToldShare): boolean {
  return told + untold >= MIN_PARTS && told >= toldNeeded(untold);
}

function toldNeeded(untold: number): number {
  return Math.max(MIN_PARTS - untold, Math.ceil((untold * MIN_SHARE) / (1 - MIN_SHARE) - 1e-6));
}

export interface GiveBackOptions extends Pick<SmsTools, 'db' | 'chargeAt'> {
  readonly now: number;
  /** Time to wait for a receipt of a part. */
  readonly receiptMs: number;
  /** Runs `take` in a transaction, and stores what customers are to hear of the parts that it ends. */
  end(take: (trx: Transaction<Schema>, now: number) => Promise<readonly number[]>): Promise<void>;
}

/** Returns the connectors whose parts in doubt are ended here; some of them in a later sweep. */
export async function giveBackSilentParts({
  db,
  now,
  receiptMs,
  chargeAt,
  end,
}: GiveBackOptions): Promise<readonly number[]> {
  const connectors = (await listConnectors(db.query)).filter(
    ({ settings }) => settings.kind === 'smpp' && settings.unknownAfter === 'refund',
  );
  for (const { id: connectorId } of connectors) {
    // What follows may read many rows: beside the writer.
    const parts = await findLongInDoubt(db.lookUps, { connectorId, submittedUntil: now - receiptMs, limit: BATCH });
    const silent = parts.filter(({ hasSign }) => !hasSign);
    const isGivenBack =
      silent.length > 0 && isReliable(await readToldShare(db.lookUps, connectorId, now - DAY_MS, toldNeeded));
    const givenBack = isGivenBack ? silent : [];
    const others = parts.filter((part) => !givenBack.includes(part));
    for (const [ended, options] of [
      [givenBack, { chargeAt, isGivenBack: true }],
      [others, { chargeAt, isGivenBack: false }],
    ] as const) {
      const ids = ended.map(({ id }) => id);
      if (ids.length > 0) await end((trx, at) => endInDoubt(trx, ids, { ...options, now: at }));
    }
  }
  return connectors.map(({ id }) => id);
}
