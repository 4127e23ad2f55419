/**
 * Sweeps the queue every second: expired leases and validity, and responses and receipts that did not arrive in time.
 * One control of those that share the database does it; each renews the leases of its own parts.
 */
import type { Transaction } from 'kysely';
import type { Db } from '#db/open.ts';
import { SMS_SWEEP } from '#db/peers/peers.ts';
import type { Schema } from '#db/schema/schema.ts';
import { listConnectors, moveStrayParts } from '#db/tables/sms/connectors.ts';
import { rematchOrphans, takeUnmatched } from '#db/tables/sms/orphans.ts';
import {
  expireParts,
  giveUpParts,
  loseLeases,
  queueSimulatedAgain,
  queueUncertainAgain,
  renewLeases,
  settleForgotten,
  settleUnknown,
} from '#db/tables/sms/sweep.ts';
import { startRounds } from '#lib/rounds.ts';
import { bringBackInstants } from './clock-back.ts';
import { LEASE_MS, RENEW_AFTER_MS } from './lease.ts';
import { refundSilentParts } from './refund-silent-parts.ts';
import type { SmsTools } from './tools.ts';

export interface SweeperOptions extends Omit<SmsTools, 'random'> {
  /** Whether no other process uses the database: all other holders of leases have ended. */
  readonly isAlone: boolean;
  /** Ids of this process's parts in flight. */
  underWay(): readonly number[];
  /** Whether this process has given the part to a carrier lately. */
  wasSent(partId: number): boolean;
  readonly waits: SmsWaits;
  /** Queues the webhook deliveries of ended parts, in the same transaction. */
  store(trx: Transaction<Schema>, endedParts: readonly number[], now: number): Promise<void>;
  /** Notified when parts were queued again. */
  onQueued(): void;
}

export interface SmsWaits {
  /** Time to wait for a receipt of a part whose answer was lost. */
  readonly uncertainMs: number;
  /** Time to wait for a receipt of a part that the carrier accepted. */
  readonly receiptMs: number;
  /** Time to wait for a receipt before a part in doubt is sent again, if its app prefers a duplicate to a loss. */
  readonly resendMs: number;
}

/** docs/decisions/0222 */
export const DEFAULT_WAITS: SmsWaits = {
  uncertainMs: 24 * 3600 * 1000,
  receiptMs: 72 * 3600 * 1000,
  resendMs: 60_000,
};

/** Most times that a part is sent. */
const MAX_SENDS = 3;
const ROUND_MS = 1_000;
/**
 * Interval, in rounds, at which unmatched receipts and instants in the future are looked for: the former may be many
 * where a carrier's account is shared, the latter are rare.
 */
const RARE_ROUNDS = 3;
const CLOCK_BACK =
  'SMS queue entries have timestamps in the future: the clock of this or another control machine was ahead; waiting entries are now due';
/**
 * Age up to which unmatched receipts are looked at again: by then a part has its response or is uncertain, since a
 * connector waits for a response for at most 10 minutes.
 */
const ORPHAN_LOOK_MS = 15 * 60 * 1000;
/** Rows per transaction; on SQLite all other writes wait for it. */
const BATCH = 500;

/** Begins at once. A failure is logged, and the next round tries again. */
export function startSweeper(options: SweeperOptions): AsyncDisposable {
  const { db, log, isAlone, peers } = options;
  const sweepAll = createSweep(options);
  return startRounds({
    everyMs: ROUND_MS,
    work: async (signal) => {
      if (!isAlone) await keepOwn(options);
      await peers.underLease(SMS_SWEEP, db, (leased) => sweepAll(leased, signal));
    },
    onFailure: (error) => log.error({ err: error }, 'cannot sweep the SMS queue; retrying'),
  });
}

type SweepAll = (db: Db, signal: AbortSignal) => Promise<void>;

function createSweep(options: SweeperOptions): SweepAll {
  const { clock, log, waits, onQueued } = options;
  let rounds = 0;
  // Nothing was swept while no process ran or the database was unreachable: parts that were in flight become uncertain
  // now.
  let hasSwept = false;
  return async (db, signal) => {
    const isRare = rounds % RARE_ROUNDS === 0;
    const orphanMs = !hasSwept ? waits.uncertainMs : isRare ? ORPHAN_LOOK_MS : undefined;
    rounds += 1;
    hasSwept = false;
    if (isRare) {
      const { parts, others } = await bringBackInstants({ db, clock }, signal);
      if (parts > 0) onQueued();
      if (parts + others > 0) log.warn({ parts, others }, CLOCK_BACK);
    }
    await sweep({ ...options, db }, orphanMs, signal);
    hasSwept = true;
  };
}

/** Renews the leases of this process's parts, and settles those that it holds without knowing. */
async function keepOwn(options: SweeperOptions): Promise<void> {
  const { db, clock, log, owner, metrics, underWay, wasSent, onQueued } = options;
  await db.transaction((trx) => renew(trx, owner, underWay(), clock()));
  const { queued, lost } = await db.transaction((trx) =>
    settleForgotten(trx, { now: clock(), owner, underWay: underWay(), wasSent }),
  );
  if (lost > 0) {
    metrics.swept.inc({ to: 'uncertain' }, lost);
    log.warn({ parts: lost }, 'results of sent parts are missing in the database, as after a fail-over that lost them');
  }
  if (queued === 0) return;
  metrics.swept.inc({ to: 'queued' }, queued);
  onQueued();
}

/** `orphanMs`: age up to which unmatched receipts are looked at; `undefined`: none are. */
async function sweep(options: SweeperOptions, orphanMs: number | undefined, signal: AbortSignal): Promise<void> {
  const { db, clock, log, metrics, owner, isAlone, waits, chargeAt, store, onQueued } = options;
  const { unsent, lost } = await db.transaction(async (trx) => {
    const leases = { now: clock(), owner, isAlone };
    return {
      unsent: await queueSimulatedAgain(trx, leases),
      lost: await loseLeases(trx, leases),
    };
  });
  if (lost > 0) {
    metrics.swept.inc({ to: 'uncertain' }, lost);
    log.warn({ parts: lost }, 'parts were in flight when their process ended; it is unknown whether they were sent');
  }
  const end = async (to: string, take: (trx: Transaction<Schema>, now: number) => Promise<readonly number[]>) => {
    for (let count = BATCH; count >= BATCH && !signal.aborted; ) {
      count = await db.transaction(async (trx) => {
        const now = clock();
        const ended = await take(trx, now);
        if (ended.length > 0) await store(trx, ended, now);
        return ended.length;
      });
      metrics.swept.inc({ to }, count);
    }
  };
  if (orphanMs !== undefined) await settleReceipts(options, orphanMs, (take) => end('receipt', take));
  await db.transaction(moveStrayParts);
  const again = { limit: BATCH, waitMs: waits.resendMs, maxSends: MAX_SENDS };
  const queued = unsent + (await db.transaction((trx) => queueUncertainAgain(trx, { now: clock(), ...again })));
  if (queued > 0) {
    metrics.swept.inc({ to: 'queued' }, queued);
    onQueued();
  }
  for (let count = BATCH; count >= BATCH && !signal.aborted; )
    count = await db.transaction((trx) => settleUnknown(trx, { now: clock(), limit: BATCH, chargeAt }));
  await end('expired', (trx, now) => expireParts(trx, { now, limit: BATCH }));
  const { receiptMs } = waits;
  const exceptConnectors = await refundSilentParts({
    ...{ db, now: clock(), receiptMs, chargeAt },
    end: (take) => end('unknown', take),
  });
  for (const [state, waitMs, others] of [
    ['uncertain', waits.uncertainMs, { exceptConnectors }],
    ['submitted', receiptMs, {}],
  ] as const)
    await end('unknown', (trx, now) => giveUpParts(trx, { now, limit: BATCH, state, waitMs, chargeAt, ...others }));
}

/** Time to wait for a response from a deleted connector: the longest that a connector can be set to. */
const LONGEST_RESPONSE_MS = 600_000;
/** Time from an answer's bytes on the wire to its commit. */
const STORED_AFTER_MS = 5_000;

type Take = (trx: Transaction<Schema>, now: number) => Promise<readonly number[]>;

/** Matches the unmatched receipts again, and reports those that will never match by themselves. */
async function settleReceipts(
  { db, clock, log, metrics, waits, chargeAt }: SweeperOptions,
  orphanMs: number,
  end: (take: Take) => Promise<void>,
): Promise<void> {
  const connectors = new Map((await listConnectors(db.query)).map((connector) => [connector.id, connector]));
  const answersAfterMs = (id: number) => {
    const settings = connectors.get(id)?.settings;
    return (
      (settings === undefined || settings.kind === 'loopback' ? LONGEST_RESPONSE_MS : settings.responseSeconds * 1000) +
      STORED_AFTER_MS
    );
  };
  await end((trx, now) => {
    const times = { now, since: now - orphanMs, ambiguousSince: now - waits.receiptMs };
    return rematchOrphans(trx, { ...times, chargeAt, answersAfterMs });
  });
  for (const { connectorId, reason, count } of await db.transaction((trx) =>
    takeUnmatched(trx, clock() - waits.receiptMs),
  )) {
    const connector = connectors.get(connectorId)?.name ?? String(connectorId);
    metrics.unmatched.inc({ connector, reason }, count);
    log.warn({ connector, receipts: count, reason }, UNMATCHED[reason]);
  }
}

const UNMATCHED = {
  number:
    'receipts have another number than the message with their id; set receipt_number to ignore if the carrier rewrites numbers',
  ambiguous: 'receipts match several parts and are discarded; no part is settled by them',
};

function renew(trx: Transaction<Schema>, owner: string, partIds: readonly number[], now: number): Promise<void> {
  return renewLeases(trx, { owner, partIds, before: now + LEASE_MS - RENEW_AFTER_MS, until: now + LEASE_MS });
}
