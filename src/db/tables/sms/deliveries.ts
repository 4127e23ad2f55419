/** Webhooks of apps, and their deliveries, which are queued in the transaction of what they tell. */
import { sql, type Transaction } from 'kysely';
import type { StoredWebhook, Webhook } from '#model/webhook.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { type Keyring, KeyringError } from '../../secrets/keyring.ts';
import { seal, unseal } from '../../secrets/sealing.ts';
import { inIds, rowList } from '../../statements/lists.ts';
import type { StoredReply } from './replies.ts';
import { readMeanings } from './status-words.ts';

/** Queues deliveries of ended parts and of replies, for apps that have a webhook. */
export async function queueDeliveries(
  trx: Transaction<Schema>,
  { endedParts, replies }: { readonly endedParts: readonly number[]; readonly replies: readonly StoredReply[] },
  now: number,
): Promise<void> {
  const rows = [...(await receiptsOf(trx, endedParts, now)), ...(await repliesOf(trx, replies, now))];
  if (rows.length === 0) return;
  await sql`
    insert into sms_delivery (app_id, kind, body, due_at, tries, created_at, error)
      select cast(value ->> 0 as integer), value ->> 1, value ->> 2, cast(value ->> 3 as bigint), 0,
        cast(value ->> 3 as bigint), '' from ${rowList(trx, rows)}`.execute(trx);
}

type DeliveryRow = (string | number)[];

async function receiptsOf(
  trx: Transaction<Schema>,
  endedParts: readonly number[],
  now: number,
): Promise<DeliveryRow[]> {
  if (endedParts.length === 0) return [];
  const { rows } = await sql<ReceiptRow>`
    select m.app_id as "appId", r.sendid as sendid, m.destination as mobile, p.n as part, m.parts as parts,
      p.state as state, p.error as error, p.last_word as word, p.done_at as time,
      p.connector_id as "connectorId"
    from sms_part as p join sms_message as m on m.id = p.message_id join sms_request as r on r.id = m.request_id
      join sms_app as a on a.id = m.app_id
    where p.id ${inIds(trx, endedParts)} and ${HAS_WEBHOOK} order by p.id`.execute(trx);
  if (rows.length === 0) return [];
  const meaningOf = await readMeanings(trx);
  return rows.map(({ appId, connectorId, ...told }) => {
    const { group } = meaningOf(connectorId ?? undefined, told.word) ?? {};
    return [appId, 'receipt', JSON.stringify({ event: 'receipt', ...told, group }), now];
  });
}

interface ReceiptRow {
  readonly appId: number;
  readonly sendid: string;
  readonly mobile: string;
  readonly part: number;
  readonly parts: number;
  readonly state: string;
  readonly error: string;
  /** The carrier's word as received; empty if there is no receipt. */
  readonly word: string;
  /** Connector that took the part. */
  readonly connectorId: number | null;
  /** When the part ended. */
  readonly time: number;
}

async function repliesOf(
  trx: Transaction<Schema>,
  replies: readonly StoredReply[],
  now: number,
): Promise<DeliveryRow[]> {
  const appIds = [...new Set(replies.flatMap(({ appId }) => (appId === undefined ? [] : [appId])))];
  if (appIds.length === 0) return [];
  const { rows } = await sql<{ id: number }>`
    select a.id as id from sms_app as a where a.id ${inIds(trx, appIds)} and ${HAS_WEBHOOK}`.execute(trx);
  const wanted = new Set(rows.map(({ id }) => id));
  return replies.flatMap(({ appId, origin, text, coding, piece }) => {
    if (appId === undefined || !wanted.has(appId)) return [];
    const told = { event: 'reply', mobile: origin, text, ...(coding !== undefined && { coding }), ...piece, time: now };
    return [[appId, 'reply', JSON.stringify(told), now]];
  });
}

const HAS_WEBHOOK = sql`a.settings like '%"webhookUrl"%'`;

/** Saves an app's webhook; `undefined` removes it, and nothing more is queued. */
export async function saveWebhook(
  trx: Transaction<Schema>,
  ring: Keyring,
  appId: number,
  webhook: Webhook | undefined,
): Promise<void> {
  const app = await trx.selectFrom('sms_app').select('settings').where('id', '=', appId).executeTakeFirstOrThrow();
  const { webhookUrl: _, webhookSecret: __, ...rest } = readSettings(app.settings);
  const own = webhook && {
    webhookUrl: webhook.url,
    webhookSecret: seal(ring, webhookSecretLocation(appId), Buffer.from(webhook.secret)),
  };
  await trx
    .updateTable('sms_app')
    .set({ settings: JSON.stringify({ ...rest, ...own }) })
    .where('id', '=', appId)
    .execute();
}

/** Returns the app's webhook; `undefined` if it has none. */
export async function findWebhook(x: Executor, ring: Keyring, appId: number): Promise<StoredWebhook | undefined> {
  const app = await x.selectFrom('sms_app').select('settings').where('id', '=', appId).executeTakeFirst();
  const { webhookUrl: url, webhookSecret } = readSettings(app?.settings ?? '{}');
  if (url === undefined) return undefined;
  if (webhookSecret === undefined) return { url };
  try {
    return { url, secret: unseal(ring, webhookSecretLocation(appId), webhookSecret).toString() };
  } catch (error) {
    if (error instanceof KeyringError) return { url };
    throw error;
  }
}

interface WebhookMembers {
  readonly webhookUrl?: string;
  /** Sealed; an export without secrets leaves it out. */
  readonly webhookSecret?: string;
}

function readSettings(text: string): WebhookMembers {
  return JSON.parse(text) as WebhookMembers; // `as`: only this room writes them
}

export function webhookSecretLocation(appId: number) {
  return { table: 'sms_app', row: appId, column: 'webhook_secret' };
}
