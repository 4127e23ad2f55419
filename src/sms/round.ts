/**
 * The transaction of a round: stores the carriers' responses, receipts and replies with the webhook deliveries that
 * follow from them, accepts waiting requests, and claims the parts to be sent next. docs/decisions/0221, 0322
 */
import type { Transaction } from 'kysely';
import type { Schema } from '#db/schema/schema.ts';
import { findSmsAppsById } from '#db/tables/sms/apps.ts';
import { type ClaimedPart, claimParts, holdParts, isAdvertising, type Lane } from '#db/tables/sms/claim.ts';
import { queueDeliveries } from '#db/tables/sms/deliveries.ts';
import { noteMessages } from '#db/tables/sms/message-watch.ts';
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
import type { InboundEvent } from './inbound-events.ts';
import { releaseAt } from './quiet-hours.ts';

export interface Round {
  readonly results: readonly PartResult[];
  readonly events: readonly InboundEvent[];
  /** Empty if requests are accepted in a transaction of their own. */
  readonly submissions: readonly Submission[];
  readonly claims: readonly ConnectorClaim[];
  /** Name of this process, which holds the leases. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly chargeAt: ChargeAt;
  readonly now: number;
}

interface ConnectorClaim {
  readonly connectorId: number;
  /** Queues that the connector serves now. */
  readonly lanes: readonly Lane[];
  readonly limit: number;
  /** Whether the parts of a message are claimed together or not at all. */
  readonly wholeMessages: boolean;
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

/** Runs a round. `turns`: the accounts that each connector served last, updated here. */
export async function runRound(
  trx: Transaction<Schema>,
  round: Round,
  zoneOf: (timeZone: string) => LocalTime,
  turns: Map<number, Turns>,
): Promise<RoundDone> {
  const { submissions, claims, owner, leaseUntil, now } = round;
  const openings = claims.map((claim) => ({ ...claim, after: turns.get(claim.connectorId) ?? NO_TURNS }));
  // Each of these sends its first statements at once and in this order, so queues are read after results are stored.
  const storing = storeAnswers(trx, round);
  if (mayRefund(round)) await storing;
  const looking = readWaiting(trx, claims, now);
  const departing = looking.then((waiting) => {
    return { openings: openings.filter((_, n) => waiting[n]?.ordinary === false), owner, leaseUntil, now };
  });
  const accepting = submissions.length > 0 ? acceptSubmissions(trx, submissions, zoneOf, departing) : NOTHING_ACCEPTED;
  const [changed, waiting, , { verdicts, claimed: atOnce, isQueued }] = await settleAll([
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
  await noteMessages(trx, {
    partIds: changed.partIds,
    accountIds: [...changed.accountIds, ...submissions.map(({ accountId }) => accountId)],
  });
  return { verdicts, claimed };
}

/**
 * Whether storing these results and events may refund parts, and so lock balances of accounts that only the database
 * knows. A transaction that also locked the balances of its submissions could deadlock with another process.
 * docs/decisions/0511
 */
export function mayRefund({ results, events, chargeAt }: Pick<Round, 'results' | 'events' | 'chargeAt'>): boolean {
  // A result can settle a part by a receipt that arrived before the response.
  if (chargeAt === 'receipt' && results.length + events.length > 0) return true;
  return results.some(({ outcome }) => outcome.kind === 'refused') || events.some(({ kind }) => kind === 'reply');
}

/** What the stored answers have changed: parts, and accounts that have replies. */
interface Changed {
  readonly partIds: readonly number[];
  readonly accountIds: readonly number[];
}

async function storeAnswers(
  trx: Transaction<Schema>,
  { results, events, owner, chargeAt, now }: Round,
): Promise<Changed> {
  const ended = await storeResults(trx, results, { owner, now, chargeAt });
  const answered = [...results.map(({ partId }) => partId), ...ended];
  if (events.length === 0 && ended.length === 0) return { partIds: answered, accountIds: [] };
  const { partIds, accountIds } = await storeInboundEvents(trx, { events, chargeAt, now }, ended);
  return { partIds: [...answered, ...partIds], accountIds };
}

const NOTHING_ACCEPTED: Promise<Accepted> = Promise.resolve({ verdicts: [], claimed: new Map(), isQueued: false });

/** Stores inbound events and their effects, webhooks included. */
async function storeInboundEvents(
  trx: Transaction<Schema>,
  { events, chargeAt, now }: Pick<Round, 'events' | 'chargeAt' | 'now'>,
  endedParts: readonly number[],
): Promise<Changed> {
  const receipts = events.flatMap((item) => (item.kind === 'receipt' ? [item.receipt] : []));
  const received = events.flatMap((item) => (item.kind === 'reply' ? [item.reply] : []));
  const byReceipt = await storeReceipts(trx, receipts, now, chargeAt);
  await storeUnread(
    trx,
    events.flatMap((item) => (item.kind === 'unread' ? [item.unread] : [])),
    now,
  );
  const { replies, endedParts: optedOut } = await storeReplies(trx, received, now);
  await queueDeliveries(trx, { endedParts: [...endedParts, ...byReceipt, ...optedOut], replies }, now);
  return {
    partIds: [...byReceipt, ...optedOut],
    accountIds: replies.flatMap(({ accountId }) => accountId ?? []),
  };
}

/** Holds back the advertising whose permitted hours ended after it was accepted. Returns the parts that may be sent. */
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
