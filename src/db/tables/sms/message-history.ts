/** One message with all that is stored of its parts, for its time line. */
import type { SmsKind } from '#model/sms-app.ts';
import type { PartState } from '#model/sms-part.ts';
import type { PartHistory } from '#model/sms-time-line.ts';
import type { Executor } from '../../schema/schema.ts';

export interface MessageHistory {
  readonly sendid: string;
  readonly appKey: string;
  readonly kind: SmsKind;
  readonly destination: string;
  /** Price of each part. */
  readonly price: number;
  readonly createdAt: number;
  readonly parts: readonly PartHistory[];
}

/** Attempts of one message that are read: a connector that pauses gives the same part back again and again. */
const MAX_ATTEMPTS = 500;

export async function readMessageHistory(
  x: Executor,
  { accountId, sendid, number }: { readonly accountId: number; readonly sendid: string; readonly number: string },
): Promise<MessageHistory | undefined> {
  const found = await x
    .selectFrom('sms_request as r')
    .innerJoin('sms_message as m', 'm.request_id', 'r.id')
    .innerJoin('sms_app as a', 'a.id', 'r.app_id')
    .select(['m.id', 'r.sendid', 'a.app_key as appKey', 'm.destination', 'm.price', 'm.created_at as createdAt'])
    .select((e) => e.ref('r.kind').$castTo<SmsKind>().as('kind')) // nothing else is ever written
    .where('r.sendid', '=', sendid)
    .where('r.account_id', '=', accountId)
    .where('m.destination', '=', number)
    .executeTakeFirst();
  if (found === undefined) return undefined;
  const { id, ...message } = found;
  return { ...message, parts: await readParts(x, id) };
}

async function readParts(x: Executor, messageId: number): Promise<readonly PartHistory[]> {
  const rows = await x
    .selectFrom('sms_part')
    .select(['id', 'n as part', 'state', 'error', 'last_word as lastWord', 'connector_id', 'carrier_id'])
    .select(['due_at as dueAt', 'submitted_at', 'done_at'])
    .where('message_id', '=', messageId)
    .orderBy('n')
    .execute();
  const attempts = await x
    .selectFrom('sms_attempt')
    .select(['part_id', 'connector_id as connectorId', 'sent_at as sentAt', 'ended_at as endedAt', 'outcome', 'error'])
    .where(
      'part_id',
      'in',
      rows.map(({ id }) => id),
    )
    .orderBy('id')
    .limit(MAX_ATTEMPTS)
    .execute();
  const ofPart = Map.groupBy(attempts, ({ part_id }) => part_id);
  return rows.map(({ id, state, connector_id, carrier_id, submitted_at, done_at, ...row }) => ({
    ...row,
    state: state as PartState, // nothing else is ever written
    connectorId: connector_id ?? undefined,
    carrierId: carrier_id ?? undefined,
    submittedAt: submitted_at ?? undefined,
    doneAt: done_at ?? undefined,
    attempts: (ofPart.get(id) ?? []).map(({ part_id: _, ...attempt }) => attempt),
  }));
}
