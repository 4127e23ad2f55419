/** The queue of webhook deliveries: filled in the transaction of the event, and retried until delivered. */
import { sql, type Transaction } from 'kysely';
import type { Executor, Schema } from '../../schema/schema.ts';
import { type Keyring, KeyringError } from '../../secrets/keyring.ts';
import { seal, unseal } from '../../secrets/sealing.ts';
import { inIds, rowList } from '../../statements/lists.ts';
import type { StoredReply } from './replies.ts';
import { readMeanings } from './status-words.ts';

export interface DueDelivery {
  readonly id: number;
  readonly appId: number;
  /** `none`: the app has no webhook any more. `locked`: its secret cannot be unsealed, or an export left it out. */
  readonly webhook: Webhook | 'none' | 'locked';
  /** JSON. */
  readonly body: string;
  /** Number of tries, including this one. */
  readonly tries: number;
}

/** Where an app receives its receipts and replies; the secret signs them. */
export interface Webhook {
  readonly url: string;
  readonly secret: string;
}

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

/** Claims due deliveries until `leaseUntil`. Apps in `pausedApps` are skipped. */
export async function claimDeliveries(
  trx: Transaction<Schema>,
  ring: Keyring,
  options: {
    readonly now: number;
    readonly leaseUntil: number;
    readonly limit: number;
    readonly pausedApps: readonly number[];
  },
): Promise<readonly DueDelivery[]> {
  const { now, leaseUntil, limit, pausedApps } = options;
  const due: number[] = [];
  for (const appId of await findAppsWithDue(trx, now, limit + pausedApps.length)) {
    if (pausedApps.includes(appId)) continue;
    due.push(...(await findDue(trx, { appId, now, limit: limit - due.length })));
    if (due.length === limit) break;
  }
  if (due.length === 0) return [];
  const rows = await trx
    .updateTable('sms_delivery')
    .set((e) => ({ due_at: leaseUntil, tries: e('tries', '+', 1) }))
    .where('id', 'in', due)
    .where('due_at', '<=', now)
    .returning(['id', 'app_id', 'body', 'tries'])
    .execute();
  const webhooks = new Map<number, DueDelivery['webhook']>();
  for (const { app_id } of rows) if (!webhooks.has(app_id)) webhooks.set(app_id, await openWebhook(trx, ring, app_id));
  return rows.map(({ id, app_id, body, tries }) => {
    return { id, appId: app_id, webhook: webhooks.get(app_id) ?? 'none', body, tries };
  });
}

/**
 * Finds apps with due deliveries, the longest waiting first. The query skips from app to app in the index: a paused app
 * may have millions of rows, none of which is read.
 */
async function findAppsWithDue(trx: Transaction<Schema>, now: number, limit: number): Promise<readonly number[]> {
  const { rows } = await sql<{ appId: number }>`
    with recursive app (id) as (
      select min(app_id) from sms_delivery
      union all select (select min(d.app_id) from sms_delivery as d where d.app_id > app.id) from app where app.id is not null)
    select a.id as "appId"
      from (select id, (select min(d.due_at) from sms_delivery as d where d.app_id = app.id) as due_at from app) as a
      where a.due_at <= ${now} order by a.due_at, a.id limit ${limit}`.execute(trx);
  return rows.map(({ appId }) => appId);
}

async function findDue(
  trx: Transaction<Schema>,
  { appId, now, limit }: { readonly appId: number; readonly now: number; readonly limit: number },
): Promise<readonly number[]> {
  const rows = await trx
    .selectFrom('sms_delivery')
    .select('id')
    .where('app_id', '=', appId)
    .where('due_at', '<=', now)
    .orderBy('due_at')
    .orderBy('id')
    .limit(limit)
    .execute();
  return rows.map(({ id }) => id);
}

/** Returns the app's webhook. A secret that cannot be unsealed must not delay other apps. */
async function openWebhook(x: Executor, ring: Keyring, appId: number): Promise<DueDelivery['webhook']> {
  const { url, secret } = (await findWebhook(x, ring, appId)) ?? {};
  if (url === undefined) return 'none';
  return secret === undefined ? 'locked' : { url, secret };
}

/** Deletes a delivery that was accepted or given up. */
export async function deleteDelivery(x: Executor, id: number): Promise<void> {
  await x.deleteFrom('sms_delivery').where('id', '=', id).execute();
}

export async function postponeDelivery(x: Executor, id: number, dueAt: number, error: string): Promise<void> {
  await x.updateTable('sms_delivery').set({ due_at: dueAt, error }).where('id', '=', id).execute();
}

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

/** Returns the app's webhook. `secret` is absent if it cannot be unsealed or an export left it out. */
export async function findWebhook(
  x: Executor,
  ring: Keyring,
  appId: number,
): Promise<(Pick<Webhook, 'url'> & Partial<Webhook>) | undefined> {
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
