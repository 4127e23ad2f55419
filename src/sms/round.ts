/**
 * The transaction of a round: what carriers answered and told is stored, with what customers are to hear of it, requests that
 * wait are accepted, and what may go out next is claimed. docs/decisions/0221, 0322
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import { type ClaimedPart, claimParts, holdParts, isAdvertising, type Lane } from '#db/tables/sms/claim.ts';
import { queueDeliveries } from '#db/tables/sms/deliveries.ts';
import { storeReceipts } from '#db/tables/sms/receipts.ts';
import { storeReplies } from '#db/tables/sms/replies.ts';
import { type PartResult, storeResults } from '#db/tables/sms/results.ts';
import { NO_TURNS, type Turns } from '#db/tables/sms/turns.ts';
import { storeUnread } from '#db/tables/sms/unread.ts';
import { readWaiting } from '#db/tables/sms/waiting.ts';
import type { LocalTime } from '#lib/local-time.ts';
import { settleAll } from '#lib/settle-all.ts';
import type { ChargeAt } from '#model/sms-part.ts';
import { type Accepted, acceptSubmissions, type Submission, type Verdict } from './accept.ts';
import type { Told } from './inbound-events.ts';
import { releaseAt } from './quiet-hours.ts';

export interface Round {
  readonly results: readonly PartResult[];
  readonly told: readonly Told[];
  /** Absent if requests are accepted in a transaction of their own. */
  readonly submissions: readonly Submission[];
  readonly claims: readonly ConnectorClaim[];
  /** Names the process. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly chargeAt: ChargeAt;
  readonly now: number;
}

interface ConnectorClaim {
  readonly connectorId: number;
  /** The queues that it serves now. */
  readonly lanes: readonly Lane[];
  readonly limit: number;
}

export interface RoundDone {
  /** Verdicts on the submissions, in their order. */
  readonly verdicts: readonly Verdict[];
  /** Result of each of `claims`. */
  readonly claimed: readonly Claimed[];
}

interface Claimed {
  /** Parts in order of sending. */
  readonly parts: readonly ClaimedPart[];
  /** Whether more parts may be due. */
  readonly isFull: boolean;
}

/** `turns`: the accounts that were served last, by connector. */
export async function runRound(
  trx: Transaction<Schema>,
  round: Round,
  zoneOf: (timeZone: string) => LocalTime,
  turns: Map<number, Turns>,
): Promise<RoundDone> {
  const { submissions, claims, owner, leaseUntil, now } = round;
  const openings = claims.map((claim) => ({ ...claim, after: turns.get(claim.connectorId) ?? NO_TURNS }));
  // Each sends its first statements at once, in this order: what waits is what waits behind the results.
  const storing = storeAnswers(trx, round);
  if (mayGiveBack(round)) await storing;
  const looking = readWaiting(trx, claims, now);
  const departing = looking.then((waiting) => {
    return { openings: openings.filter((_, n) => waiting[n]?.ordinary === false), owner, leaseUntil, now };
  });
  const accepting = submissions.length > 0 ? acceptSubmissions(trx, submissions, zoneOf, departing) : NOTHING_ACCEPTED;
  const [, waiting, , { verdicts, claimed: atOnce, isQueued }] = await settleAll([
    storing,
    looking,
    departing,
    accepting,
  ] as const);
  const claimed: Claimed[] = [];
  for (const [n, opening] of openings.entries()) {
    const begun = atOnce.get(opening.connectorId) ?? [];
    const limit = opening.limit - begun.length;
    const mayWait = isQueued || waiting[n]?.ordinary !== false || waiting[n]?.advertising !== false;
    const last = begun.at(-1)?.accountId;
    const after = last === undefined ? opening.after : opening.after.with(0, last);
    const due =
      limit > 0 && mayWait
        ? await claimParts(trx, { ...opening, limit, after, owner, leaseUntil, now })
        : { parts: [], isFull: limit <= 0, turns: after };
    turns.set(opening.connectorId, due.turns);
    const parts = [...begun, ...(await withinHours(trx, due.parts, now, zoneOf))];
    claimed.push({ parts, isFull: due.isFull });
  }
  return { verdicts, claimed };
}

/**
 * Whether what carriers answered and told may give money back: to accounts that only the database knows. A transaction that
 * held other balances meanwhile could wait for another process in a circle. docs/decisions/0511
 */
export function mayGiveBack({ results, told, chargeAt }: Pick<Round, 'results' | 'told' | 'chargeAt'>): boolean {
  // By `receipt`, what a receipt says that was there before the answer counts too.
  if (chargeAt === 'receipt' && results.length + told.length > 0) return true;
  return results.some(({ outcome }) => outcome.kind === 'refused') || told.some(({ kind }) => kind === 'reply');
}

async function storeAnswers(trx: Transaction<Schema>, { results, told, owner, chargeAt, now }: Round): Promise<void> {
  const ended = await storeResults(trx, results, { owner, now, chargeAt });
  if (told.length > 0 || ended.length > 0) await storeTold(trx, { told, chargeAt, now }, ended);
}

const NOTHING_ACCEPTED: Promise<Accepted> = Promise.resolve({ verdicts: [], claimed: new Map(), isQueued: false });

/** Stores inbound events and their effects, webhooks included. */
async function storeTold(
  trx: Transaction<Schema>,
  { told, chargeAt, now }: Pick<Round, 'told' | 'chargeAt' | 'now'>,
  endedParts: readonly number[],
): Promise<void> {
  const receipts = told.flatMap((item) => (item.kind === 'receipt' ? [item.receipt] : []));
  const received = told.flatMap((item) => (item.kind === 'reply' ? [item.reply] : []));
  const byReceipt = await storeReceipts(trx, receipts, now, chargeAt);
  await storeUnread(
    trx,
    told.flatMap((item) => (item.kind === 'unread' ? [item.unread] : [])),
    now,
  );
  const { replies, endedParts: optedOut } = await storeReplies(trx, received, now);
  await queueDeliveries(trx, { endedParts: [...endedParts, ...byReceipt, ...optedOut], replies }, now);
}

/** Advertising was accepted while its hours lasted, and may come up after them. */
async function withinHours(
  trx: Transaction<Schema>,
  due: readonly ClaimedPart[],
  now: number,
  zoneOf: (timeZone: string) => LocalTime,
): Promise<readonly ClaimedPart[]> {
  const appIds = new Set(due.filter(isAdvertising).map(({ appId }) => appId));
  if (appIds.size === 0) return due;
  const releases = new Map<number, number>();
  for (const { id, settings } of await findSmsAppsById(trx, [...appIds])) {
    const { marketingHours: hours } = settings;
    if (hours !== undefined) releases.set(id, releaseAt(now, hours, zoneOf(hours.timeZone)));
  }
  const releaseOf = (part: ClaimedPart) => (isAdvertising(part) ? (releases.get(part.appId) ?? now) : now);
  const held = due.filter((part) => releaseOf(part) > now).map((part) => ({ part, dueAt: releaseOf(part) }));
  await holdParts(trx, held, now);
  return due.filter((part) => releaseOf(part) <= now);
}
