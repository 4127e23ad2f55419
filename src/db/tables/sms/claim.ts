/** Claims parts for sending: they are leased and marked as submitting before their bytes are sent. */
import { type RawBuilder, type Selectable, sql, type Transaction } from 'kysely';
import { settleAll } from '#lib/settle-all.ts';
import { MAX_SMS_PARTS } from '#model/limits.ts';
import { isPostgres } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { runBatch, writeBatch } from '../../statements/batch.ts';
import { inIds, rowList } from '../../statements/lists.ts';
import type { Statement } from '../../statements/statement.ts';
import { statement } from '../../statements/statement.ts';
import { stateOf } from './part-state.ts';
import {
  type Ends,
  isCut,
  isDueOf,
  isFreeFor,
  lastTurn,
  QUEUE_VALUES,
  type Queue,
  readTurns,
  selectEnds,
  type Turns,
  takeTurns,
  takeWholeTurns,
} from './turns.ts';

const ADVERTISING = 1;
/** Ordinary and advertising; each has a queue of its own. */
const PRIORITIES = [0, ADVERTISING];

export interface Claim {
  readonly connectorId: number;
  /** The queues that the connector serves now. */
  readonly lanes: readonly Lane[];
  readonly limit: number;
  /** Whether the parts of a message are claimed together or not at all. */
  readonly wholeMessages: boolean;
  /** The last turns before this round. */
  readonly after: Turns;
  /** Names the process. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly now: number;
}

/** Parts of one route whose number of failures is in a range. */
export interface Lane {
  readonly route: string;
  readonly minTries: number;
  readonly maxTries: number;
}

/** What is read of a claimed part (`p`) and its message (`m`): the column of each member. */
const CLAIMED = {
  id: 'p.id',
  messageId: 'p.message_id',
  appId: 'm.app_id',
  accountId: 'm.account_id',
  /** Number of the part, from 1. */
  part: 'p.n',
  parts: 'm.parts',
  text: 'p.text',
  /** E.164 with `+`. */
  destination: 'm.destination',
  /** 0 to 255; the same for all parts of a message. */
  reference: 'm.reference',
  /** Failures that count, before this try. */
  tries: 'p.tries',
  priority: 'p.priority',
  route: 'p.route',
  dueAt: 'p.due_at',
  expireAt: 'p.expire_at',
} as const;

export type ClaimedPart = { readonly [M in keyof typeof CLAIMED]: ValueOf<(typeof CLAIMED)[M]> };

type ValueOf<C extends string> = C extends `p.${infer N extends keyof SmsPart}`
  ? SmsPart[N]
  : C extends `m.${infer N extends keyof SmsMessage}`
    ? SmsMessage[N]
    : never;
type SmsPart = Selectable<Schema['sms_part']>;
type SmsMessage = Selectable<Schema['sms_message']>;

export interface ClaimedParts {
  /** Parts in order of sending. */
  readonly parts: readonly ClaimedPart[];
  /** More parts may be due. */
  readonly isFull: boolean;
  /** The last turns after this round. */
  readonly turns: Turns;
}

/** Claims due parts. Parts that another process has locked are skipped. */
export async function claimParts(trx: Transaction<Schema>, claim: Claim): Promise<ClaimedParts> {
  const { after, limit, wholeMessages } = claim;
  const { found, cutAt } = await findDue(trx, claim);
  const sorted = [...new Map(found.map((part) => [part.id, part])).values()].sort(compareTurns);
  const ofPriority = (parts: readonly ClaimedPart[], own: number) => parts.filter(({ priority }) => priority === own);
  const takeInTurn = wholeMessages ? takeWholeTurns : takeTurns;
  const inTurn = PRIORITIES.flatMap((own) => takeInTurn(ofPriority(sorted, own), after[own] ?? 0));
  const parts = inTurn.slice(0, wholeMessages ? wholeWithin(inTurn, limit) : limit);
  if (parts.length === 0) return { parts, isFull: false, turns: after };
  const partIds = parts.map(({ id }) => id);
  await writeBatch(trx, [updateClaimed({ ...claim, partIds }), ...pin(trx, parts, claim.connectorId)]);
  const turns = PRIORITIES.map((own) => {
    const [before, last] = [after[own] ?? 0, ofPriority(parts, own).at(-1)];
    return last === undefined ? before : lastTurn(before, last.accountId, cutAt[own] ?? []);
  });
  const isFull = parts.length >= limit || parts.length < inTurn.length || cutAt.some((own) => own.length > 0);
  return { parts, isFull, turns };
}

/** Counts the parts that fit, without those of a message that does not fit as a whole. */
function wholeWithin(parts: readonly ClaimedPart[], limit: number): number {
  let count = Math.min(limit, parts.length);
  while (count > 0 && count < parts.length && parts[count - 1]?.messageId === parts[count]?.messageId) count -= 1;
  return count;
}

interface Due {
  readonly found: readonly ClaimedPart[];
  /** Account ids by priority: the last one examined in each queue that has more accounts than a round serves. */
  readonly cutAt: readonly (readonly number[])[];
}

/** Finds due parts, in each queue up to the limit, shared among the accounts that wait in it. */
async function findDue(trx: Transaction<Schema>, claim: Claim): Promise<Due> {
  const { now } = claim;
  const queues = claim.lanes.flatMap((lane) => PRIORITIES.map((priority): Queue => ({ ...lane, priority, now })));
  const limit = limitOf(claim, claim.limit);
  const [pinned = [], ...found] = await runBatch(trx, [selectPinned({ ...claim, limit }), ...queues.map(selectEnds)]);
  // `as`: the first result has parts, the others have ends of queues.
  const ends = found.map(([own]) => own as Ends | undefined);
  const turns = await readTurns(trx, queues, ends, claim);
  const due = await settleAll(queues.map((queue, n) => readShares(trx, claim, queue, turns[n] ?? [])));
  const cutAt = PRIORITIES.map((own) =>
    turns.flatMap((ids, n) => (queues[n]?.priority === own && isCut(ids) ? ids.slice(-1) : [])),
  );
  return { found: [...uncut(claim, pinned as readonly ClaimedPart[], limit), ...due.flat()], cutAt };
}

/** Reads an equal share of the limit for each account; what some accounts leave is shared among the others. */
async function readShares(
  trx: Transaction<Schema>,
  claim: Claim,
  queue: Queue,
  accountIds: readonly number[],
): Promise<readonly ClaimedPart[]> {
  const found = new Map<number, readonly ClaimedPart[]>();
  let asked = accountIds;
  for (let [share, rest] = [0, claim.limit]; asked.length > 0; ) {
    share += Math.ceil(rest / asked.length);
    const limit = limitOf(claim, share);
    const lists = await runBatch(
      trx,
      asked.map((accountId) => selectDue(claim, queue, accountId, limit)),
    );
    for (const [n, accountId] of asked.entries()) found.set(accountId, uncut(claim, lists[n] ?? [], limit));
    rest = claim.limit - [...found.values()].flat().length;
    asked = rest > 0 ? asked.filter((_, n) => (lists[n] ?? []).length >= limit) : [];
  }
  return [...found.values()].flat();
}

/** Parts to read for `wanted` parts: so many more that the last of them is there with all of its message. */
function limitOf({ wholeMessages }: Claim, wanted: number): number {
  return wholeMessages ? wanted + MAX_SMS_PARTS - 1 : wanted;
}

/** Returns the parts that were read, without the last message if the limit may have cut it. */
function uncut({ wholeMessages }: Claim, read: readonly ClaimedPart[], limit: number): readonly ClaimedPart[] {
  const last = read.at(-1);
  if (!wholeMessages || last === undefined || read.length < limit || last.part === last.parts) return read;
  return read.filter(({ messageId }) => messageId !== last.messageId);
}

const updateClaimed = statement(
  { connectorId: 'value', now: 'value', owner: 'value', leaseUntil: 'value', partIds: 'ids' },
  ({ connectorId, now, owner, leaseUntil, partIds }) => {
    return sql`
      update sms_part set state = 'submitting', sends = sends + 1, connector_id = ${connectorId}, submitted_at = ${now},
        lease_owner = ${owner}, lease_until = ${leaseUntil}
      where id ${partIds}`;
  },
);

export function isAdvertising({ priority }: ClaimedPart): boolean {
  return priority === ADVERTISING;
}

/**
 * Requeues claimed parts whose sending hours are over. They were not sent: the send is not counted, and their expiry
 * moves by the length of the wait.
 */
export async function holdParts(
  trx: Transaction<Schema>,
  held: readonly { readonly part: ClaimedPart; readonly dueAt: number }[],
  now: number,
): Promise<void> {
  if (held.length === 0) return;
  const rows = held.map(({ part, dueAt }) => [part.id, dueAt]);
  await sql`
    update sms_part set state = 'queued', sends = sends - 1, due_at = v.due_at, expire_at = expire_at + v.due_at - ${now},
      submitted_at = null, connector_id = ${BOUND_TO}, lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, cast(value ->> 1 as bigint) as due_at from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id`.execute(trx);
}

/**
 * The connector that a requeued part is bound to, since it has taken other parts of the message. A connector looks at
 * the parts bound to it in each of its rounds.
 */
export const BOUND_TO = sql`(select m.connector_id from sms_message as m where m.id = sms_part.message_id)`;

/** Orders ordinary parts before advertising, then by waiting time; the parts of a message stay together. */
function compareTurns(a: ClaimedPart, b: ClaimedPart): number {
  return a.priority - b.priority || a.dueAt - b.dueAt || a.id - b.id;
}

/**
 * A statement per account: with a list, PostgreSQL would not see how few rows are wanted, and would sort all waiting
 * parts.
 */
function selectDue({ connectorId }: Claim, queue: Queue, accountId: number, limit: number): Statement<ClaimedPart> {
  return selectDueOf({ ...queue, accountId, connectorId, limit });
}

const selectDueOf = statement(
  { ...QUEUE_VALUES, accountId: 'value', connectorId: 'value', limit: 'value' },
  ({ accountId, connectorId, limit, ...queue }, x) => {
    const own = sql`${isDueOf(queue)} and p.account_id = ${accountId} and ${isFreeFor(connectorId)}`;
    return select(x, own, sql`p.due_at, p.id`, queue.now, limit);
  },
);

/** Claims the remaining parts of messages that this connector has begun, even if their route has changed. */
const selectPinned = statement(
  { connectorId: 'value', now: 'value', limit: 'value' },
  ({ connectorId, now, limit }, x) => {
    const pinned = sql`state = 'queued' and connector_id = ${connectorId} and due_at <= ${now}`;
    // PostgreSQL would begin with the messages, most of which belong to this connector.
    const parts = isPostgres(x)
      ? sql`p.id = any(array(select id from sms_part where ${pinned})) and ${stateOf('p')} = 'queued'`
      : sql`p.state = 'queued' and p.connector_id = ${connectorId}`;
    const own = sql`${parts} and p.due_at <= ${now} and m.connector_id = ${connectorId}`;
    return select(x, own, sql`p.priority, p.due_at, p.id`, now, limit);
  },
);

function select(
  x: Executor,
  condition: RawBuilder<unknown>,
  order: RawBuilder<unknown>,
  now: RawBuilder<unknown>,
  limit: RawBuilder<unknown>,
): RawBuilder<ClaimedPart> {
  const columns = Object.entries(CLAIMED).map(([member, column]) => sql`${sql.ref(column)} as ${sql.ref(member)}`);
  return sql<ClaimedPart>`
    select ${sql.join(columns)} from sms_part as p join sms_message as m on m.id = p.message_id
    where ${condition} and p.expire_at > ${now}
    order by ${order} limit ${limit}
    ${isPostgres(x) ? sql`for update of p, m skip locked` : sql``}`;
}

function pin(
  trx: Transaction<Schema>,
  claimed: readonly ClaimedPart[],
  connectorId: number,
): readonly Statement<unknown>[] {
  const several = [...new Set(claimed.filter(({ parts }) => parts > 1).map(({ messageId }) => messageId))];
  if (several.length === 0) return [];
  const messages = sql`update sms_message set connector_id = ${connectorId} where id ${inIds(trx, several)}`;
  const others = sql`update sms_part set connector_id = ${connectorId}
    where state = 'queued' and message_id ${inIds(trx, several)}`;
  return [messages, others];
}
