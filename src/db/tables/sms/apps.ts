/** SMS apps of customers. An app is found by its key within its account, so another account's key counts as unknown. */
import { type Selectable, sql, type Transaction } from 'kysely';
import { DEFAULT_SMS_APP_SETTINGS, type SmsApp, type SmsAppSettings } from '#model/sms-app.ts';
import { lockInTransaction } from '../../engines/engine.ts';
import type { Executor, Schema } from '../../schema/schema.ts';
import { statement } from '../../statements/statement.ts';
import { unchanged } from '../audit.ts';

export interface NewSmsApp {
  readonly accountId: number;
  readonly appKey: string;
  readonly name: string;
  readonly now: number;
}

export async function createSmsApp(x: Executor, { accountId, appKey, name, now }: NewSmsApp): Promise<SmsApp> {
  const row = await x
    .insertInto('sms_app')
    .values({ account_id: accountId, app_key: appKey, name, enabled: 1, created_at: now, settings: '{}' })
    .returningAll()
    .executeTakeFirstOrThrow();
  return toApp(row);
}

export async function findSmsApp(
  x: Executor,
  { accountId, appKey }: { readonly accountId: number; readonly appKey: string },
): Promise<SmsApp | undefined> {
  const row = await x
    .selectFrom('sms_app')
    .selectAll()
    .where('app_key', '=', appKey)
    .where('account_id', '=', accountId)
    .executeTakeFirst();
  return row && toApp(row);
}

/** Finds an app and locks its settings and webhook until the transaction ends. */
export async function findSmsAppToChange(
  trx: Transaction<Schema>,
  place: Parameters<typeof findSmsApp>[1],
): Promise<SmsApp | undefined> {
  await lockInTransaction(trx, `sms app:${place.appKey}`);
  return await findSmsApp(trx, place);
}

/** Selects apps of any account. */
export const selectSmsAppsByKey = statement({ appKeys: 'rows' }, ({ appKeys }) => {
  return sql<SmsAppRow>`select * from sms_app where app_key in (select value ->> 0 from ${appKeys})`;
});

export type SmsAppRow = Selectable<Schema['sms_app']>;

export async function findSmsAppsById(x: Executor, appIds: readonly number[]): Promise<readonly SmsApp[]> {
  if (appIds.length === 0) return [];
  const rows = await x.selectFrom('sms_app').selectAll().where('id', 'in', appIds).execute();
  return rows.map(toApp);
}

/** Lists apps in order of creation. `accountId` absent: of all accounts. */
export async function listSmsApps(
  x: Executor,
  {
    accountId,
    limit,
    offset,
  }: { readonly accountId: number | undefined; readonly limit: number; readonly offset: number },
): Promise<{ readonly total: number; readonly apps: readonly (SmsApp & { readonly hasWebhook: boolean })[] }> {
  const all = x.selectFrom('sms_app').$if(accountId !== undefined, (query) => {
    return query.where('account_id', '=', accountId ?? 0);
  });
  const { total } = await all.select((e) => e.fn.countAll<number>().as('total')).executeTakeFirstOrThrow();
  const rows = await all.selectAll().orderBy('id').limit(limit).offset(offset).execute();
  return { total, apps: rows.map((row) => ({ ...toApp(row), hasWebhook: row.settings.includes('"webhookUrl"') })) };
}

/** Saves the settings; other columns, such as the webhook's address, keep their values. */
export async function saveSmsAppSettings(
  trx: Transaction<Schema>,
  appId: number,
  settings: SmsAppSettings,
): Promise<void> {
  const row = await trx.selectFrom('sms_app').select('settings').where('id', '=', appId).executeTakeFirstOrThrow();
  const { marketingHours, ...rest } = settings;
  const members = { ...readMembers(row.settings), ...rest, marketingHours: marketingHours ?? null };
  await trx
    .updateTable('sms_app')
    .set({ settings: JSON.stringify(members) })
    .where('id', '=', appId)
    .execute();
}

export interface StatusChange {
  readonly appId: number;
  /** Absent: the opposite of the current status. */
  readonly wanted: boolean | undefined;
  /** Identifies a repeated request. */
  readonly replayHash: string;
  readonly now: number;
}

/** Retention of results of changes: a request's time may be a day ahead, and a repetition a day late. */
const KEEP_CHANGES_MS = 3 * 24 * 3600 * 1000;

/**
 * Changes the status and returns whether the app is now enabled. A repeated request changes nothing and returns the
 * same. docs/decisions/0211
 */
export async function changeSmsAppStatus(
  trx: Transaction<Schema>,
  { appId, wanted, replayHash, now }: StatusChange,
): Promise<boolean> {
  // Locks the row, so that two repetitions do not run concurrently.
  const { enabled: before } = await trx
    .updateTable('sms_app')
    .set((e) => ({ enabled: e.ref('enabled') }))
    .where('id', '=', appId)
    .returning('enabled')
    .executeTakeFirstOrThrow();
  const done = await trx
    .selectFrom('sms_app_change')
    .select('enabled')
    .where('replay_hash', '=', replayHash)
    .executeTakeFirst();
  if (done !== undefined) return unchanged(trx, done.enabled === 1);
  const enabled = (wanted ?? before === 0) ? 1 : 0;
  await trx.updateTable('sms_app').set({ enabled }).where('id', '=', appId).execute();
  await trx.insertInto('sms_app_change').values({ replay_hash: replayHash, enabled, created_at: now }).execute();
  await trx
    .deleteFrom('sms_app_change')
    .where('created_at', '<', now - KEEP_CHANGES_MS)
    .execute();
  return enabled === 1;
}

export function toApp(row: SmsAppRow): SmsApp {
  const members = readMembers(row.settings);
  return {
    id: row.id,
    accountId: row.account_id,
    appKey: row.app_key,
    name: row.name,
    isEnabled: row.enabled === 1,
    createdAt: row.created_at,
    settings: {
      ...DEFAULT_SMS_APP_SETTINGS,
      ...members,
      marketingHours:
        members.marketingHours === undefined
          ? DEFAULT_SMS_APP_SETTINGS.marketingHours
          : (members.marketingHours ?? undefined),
    },
  };
}

type StoredMembers = Partial<Omit<SmsAppSettings, 'marketingHours'>> & {
  readonly marketingHours?: SmsAppSettings['marketingHours'] | null;
};

function readMembers(text: string): StoredMembers {
  return JSON.parse(text) as StoredMembers; // `as`: only this room writes them
}
