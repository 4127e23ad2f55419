/**
 * Compares what the domains of accounts send with the bandwidth that these may have, and lets edges refuse the viewers of
 * those that are over it, where the operator has chosen so. docs/decisions/0633, 0684
 */
import type { Db } from '#db/open.ts';
import { type Controls, HOUSEKEEPING } from '#db/peers/peers.ts';
import { listBoundedAccounts, saveOverSince } from '#db/tables/accounts.ts';
import { findDomainToChange, listWronglyLimited, saveDomain } from '#db/tables/domains.ts';
import { addEvent } from '#db/tables/events/events.ts';
import { listBytesOut } from '#db/tables/statistics.ts';
import type { Clock } from '#lib/clock.ts';
import { MINUTE_MS } from '#lib/durations.ts';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import type { Account } from '#model/account.ts';
import { saveAndPublish } from './change.ts';

/** Edges report every `stat-seconds` (30), and are to refuse within a minute. */
const ROUND_MS = 15_000;
/** What the mean is taken of. */
const WINDOW_MS = 5 * MINUTE_MS;
/** Domains that are looked up at once. */
const BATCH = 100;

export interface BandwidthOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** One control of those that share the database does it. */
  readonly peers: Pick<Controls, 'underLease'>;
  readonly log: Logger;
}

export function startBandwidthChecks({ db, clock, peers, log }: BandwidthOptions): AsyncDisposable {
  return startRounds({
    everyMs: ROUND_MS,
    work: () => peers.underLease(HOUSEKEEPING, db, (leased) => checkBandwidth(leased, clock())),
    onFailure: (err) => log.error({ err }, 'cannot check the bandwidth of accounts; retrying later'),
  });
}

export async function checkBandwidth(db: Db, now: number): Promise<void> {
  const refused: number[] = [];
  for (const account of await listBoundedAccounts(db.query)) {
    const isOver = await checkAccount(db, account, now);
    if (isOver && account.limits.overBandwidth === 'refuse') refused.push(account.id);
  }
  for (;;) {
    const ids = await listWronglyLimited(db.query, refused, BATCH);
    for (const id of ids) await setLimited(db, id, refused, now);
    if (ids.length < BATCH) return;
  }
}

/** Returns whether the account is over its bandwidth now. */
async function checkAccount(db: Db, { id, name, limits, overSince }: Account, now: number): Promise<boolean> {
  const { bandwidthMbps = Number.POSITIVE_INFINITY } = limits;
  const minutes = await listBytesOut(db.query, { accountId: id, from: now - WINDOW_MS - 2 * MINUTE_MS });
  const mbps = meanMbps(minutes, now);
  const isOver = mbps > bandwidthMbps;
  if (isOver === (overSince !== undefined)) return isOver;
  await db.transaction(async (trx) => {
    await saveOverSince(trx, id, isOver ? now : undefined);
    await addEvent(trx, {
      at: now,
      kind: isOver ? 'bandwidth.over' : 'bandwidth.within',
      accountId: id,
      target: { kind: 'account', id: String(id), name },
      actor: 'control',
      data: { mbps: Math.round(mbps * 10) / 10, limit: limits.bandwidthMbps ?? 0 },
    });
  });
  return isOver;
}

/**
 * The highest mean of three windows. The first ends with the present minute, so that a burst counts at once, not when its
 * minute is over. The last ends a minute ago, and all of it was reported: in the others steady traffic seems to fall with
 * each new minute.
 */
function meanMbps(minutes: readonly { readonly at: number; readonly bytes: number }[], now: number): number {
  const present = now - (now % MINUTE_MS);
  const sums = [present + MINUTE_MS, present, present - MINUTE_MS].map((end) =>
    minutes.reduce((sum, { at, bytes }) => (at < end && at >= end - WINDOW_MS ? sum + bytes : sum), 0),
  );
  return (Math.max(...sums) * 8) / WINDOW_MS / 1000;
}

/** This is no change of settings: the domain does not read as one that is being configured. */
async function setLimited(db: Db, id: number, refused: readonly number[], now: number): Promise<void> {
  await db.transaction(async (trx) => {
    const domain = await findDomainToChange(trx, { id });
    if (domain === undefined) return;
    const isLimited = refused.includes(domain.accountId);
    const saved = await saveAndPublish(trx, { ...domain, isLimited }, now);
    await saveDomain(trx, { ...saved, settingRevision: domain.settingRevision });
  });
}
