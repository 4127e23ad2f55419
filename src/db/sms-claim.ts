/** What may go out next: parts are taken under a lease, and marked as submitting before their bytes go out. */
import { type RawBuilder, sql, type Transaction } from 'kysely';
import { forEachRow } from './each-row.ts';
import { isPostgres } from './engine.ts';
import { inIds, rowList } from './row-list.ts';
import type { Schema } from './schema.ts';
import { runTogether, type Statement } from './together.ts';

const ADVERTISING = 1;
/** Ordinary, advertising: each a stretch of the index, so that nothing is read that is not due yet. */
const PRIORITIES = [0, ADVERTISING];

export interface Claim {
  readonly connectorId: number;
  /** The queues that the connector serves now. */
  readonly lanes: readonly Lane[];
  readonly limit: number;
  /** Names the process. */
  readonly owner: string;
  readonly leaseUntil: number;
  readonly now: number;
}

/** Parts of one route that failed so often. */
export interface Lane {
  readonly route: string;
  readonly minTries: number;
  readonly maxTries: number;
}

export interface ClaimedPart {
  readonly id: number;
  readonly messageId: number;
  readonly appId: number;
  /** From 1. */
  readonly part: number;
  readonly parts: number;
  readonly text: string;
  /** E.164 with `+`. */
  readonly destination: string;
  readonly reference: number;
  /** Failures that count, before this try. */
  readonly tries: number;
  readonly priority: number;
  readonly route: string;
  readonly dueAt: number;
  readonly expireAt: number;
}

/** In the order in which they are to go out. Parts that another process holds are passed over. */
export async function claimParts(trx: Transaction<Schema>, claim: Claim): Promise<readonly ClaimedPart[]> {
  const due = claim.lanes.flatMap((lane) => PRIORITIES.map((priority) => selectDue(trx, claim, { ...lane, priority })));
  const found = (await runTogether(trx, [selectPinned(trx, claim), ...due])).flat();
  const claimed = [...new Map(found.map((part) => [part.id, part])).values()].sort(compareTurns).slice(0, claim.limit);
  if (claimed.length === 0) return [];
  await runTogether(trx, [updateClaimed(trx, claim, claimed), ...pin(trx, claimed, claim.connectorId)]);
  return claimed;
}

function updateClaimed(
  trx: Transaction<Schema>,
  { connectorId, owner, leaseUntil, now }: Claim,
  claimed: readonly ClaimedPart[],
) {
  const rows = claimed.map(({ id }) => [id]);
  return forEachRow(trx, { id: 'bigint' }, rows, ({ v, from }) => {
    return sql`
      update sms_part set state = 'submitting', sends = sends + 1, connector_id = ${connectorId}, submitted_at = ${now},
        lease_owner = ${owner}, lease_until = ${leaseUntil}
      ${from} where sms_part.id = ${v.id}`;
  });
}

export function isAdvertising({ priority }: ClaimedPart): boolean {
  return priority === ADVERTISING;
}

/** These wait on, and what they may wait in all grows by as much: their hours are over. They were not sent. */
export async function holdParts(
  trx: Transaction<Schema>,
  held: readonly { readonly part: ClaimedPart; readonly dueAt: number }[],
  now: number,
): Promise<void> {
  if (held.length === 0) return;
  const rows = held.map(({ part, dueAt }) => [part.id, dueAt]);
  await sql`
    update sms_part set state = 'queued', sends = sends - 1, due_at = v.due_at, expire_at = expire_at + v.due_at - ${now},
      lease_owner = null, lease_until = null
    from (select cast(value ->> 0 as bigint) as id, cast(value ->> 1 as bigint) as due_at from ${rowList(trx, rows)}) as v
    where sms_part.id = v.id`.execute(trx);
}

/** Ordinary before advertising, then whoever has waited longest; the parts of a message one after the other. */
function compareTurns(a: ClaimedPart, b: ClaimedPart): number {
  return a.priority - b.priority || a.dueAt - b.dueAt || a.id - b.id;
}

function selectDue(
  trx: Transaction<Schema>,
  claim: Claim,
  { route, minTries, maxTries, priority }: Lane & { readonly priority: number },
): Statement<ClaimedPart> {
  return select(
    trx,
    claim,
    sql`p.route = ${route} and p.priority = ${sql.lit(priority)} and p.tries between ${minTries} and ${maxTries}
      and ${isFree(claim.connectorId)}`,
  );
}

/** The rest of messages of which this connector has taken a part, whoever serves their route now. */
function selectPinned(trx: Transaction<Schema>, claim: Claim): Statement<ClaimedPart> {
  const { connectorId } = claim;
  return select(trx, claim, sql`p.connector_id = ${connectorId} and m.connector_id = ${connectorId}`);
}

function select(
  trx: Transaction<Schema>,
  { limit, now }: Claim,
  condition: RawBuilder<unknown>,
): Statement<ClaimedPart> {
  return sql<ClaimedPart>`
    select p.id as id, p.message_id as "messageId", p.n as part, p.text as text, p.tries as tries, p.priority as priority,
      p.route as route, m.app_id as "appId", p.due_at as "dueAt", p.expire_at as "expireAt", m.parts as parts, m.destination as destination,
      m.reference as reference
    from sms_part as p join sms_message as m on m.id = p.message_id
    where p.state = 'queued' and p.due_at <= ${now} and p.expire_at > ${now} and ${condition}
    order by p.due_at, p.id limit ${limit}
    ${isPostgres(trx) ? sql`for update of p, m skip locked` : sql``}`;
}

/** A message of several parts stays with the connector that has taken one of them. */
function isFree(connectorId: number) {
  return sql`(m.connector_id is null or m.connector_id = ${connectorId}
    or not exists (select 1 from sms_part as q where q.message_id = m.id and q.state <> 'queued'))`;
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
