/** Messages in the queue as accepting them leaves them, and what must hold of the money at any time. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import { type Db, openDatabase } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { createLogger } from '#lib/logger.ts';
import type { ChargeAt } from '#model/sms-part.ts';
import type { DatabaseTarget } from '../db/databases.ts';

export interface SmsAccount {
  readonly accountId: number;
  readonly appId: number;
}

export interface QueuedMessage {
  readonly destination?: string;
  readonly texts?: readonly string[];
  readonly kind?: 'ordinary' | 'advertising';
  readonly smsType?: number;
  readonly price?: number;
  readonly route?: string;
  readonly dueAt?: number;
  readonly expireAt?: number;
  readonly reference?: number;
  readonly now: number;
}

export function openSmsDatabase(target: DatabaseTarget): Promise<Db> {
  return openDatabase({ ...target, log: createLogger({ level: 'silent', name: 'test' }) });
}

export async function openSmsAccount(
  db: Db,
  {
    balance = 1_000_000,
    settings = {},
    now,
  }: { readonly balance?: number; readonly settings?: object; readonly now: number },
): Promise<SmsAccount> {
  const account = await createAccount(db.query, { name: 'sms', kind: 'customer', now });
  return await db.transaction(async (trx) => {
    await trx.insertInto('sms_balance').values({ account_id: account.id, balance }).execute();
    await trx
      .insertInto('sms_ledger')
      .values({ account_id: account.id, part_id: null, kind: 'recharge', amount: balance, created_at: now })
      .execute();
    const { id } = await trx
      .insertInto('sms_app')
      .values({
        account_id: account.id,
        app_key: randomUUID(),
        name: 'app',
        enabled: 1,
        created_at: now,
        settings: JSON.stringify(settings),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    return { accountId: account.id, appId: id };
  });
}

/** Gives the ids of its parts. */
export async function queueMessage(
  db: Db,
  { accountId, appId }: SmsAccount,
  message: QueuedMessage,
): Promise<number[]> {
  const { destination = '+8613800138000', texts = ['text'], kind = 'ordinary', smsType = 1, price = 5, now } = message;
  return await db.transaction(async (trx) => {
    await trx
      .updateTable('sms_balance')
      .set((e) => ({ balance: e('balance', '-', price * texts.length) }))
      .where('account_id', '=', accountId)
      .execute();
    const request = await trx
      .insertInto('sms_request')
      .values({
        sendid: randomUUID(),
        account_id: accountId,
        app_id: appId,
        kind,
        sms_type: smsType,
        created_at: now,
        replay_hash: randomUUID(),
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const { id: messageId } = await trx
      .insertInto('sms_message')
      .values({
        request_id: request.id,
        account_id: accountId,
        app_id: appId,
        kind,
        sms_type: smsType,
        destination,
        parts: texts.length,
        price,
        reference: message.reference ?? 7,
        connector_id: null,
        created_at: now,
      })
      .returning('id')
      .executeTakeFirstOrThrow();
    const parts = await trx
      .insertInto('sms_part')
      .values(
        texts.map((text, index) => ({
          message_id: messageId,
          account_id: accountId,
          n: index + 1,
          text,
          state: 'queued',
          route: message.route ?? '',
          priority: kind === 'ordinary' ? 0 : 1,
          due_at: message.dueAt ?? now,
          expire_at: message.expireAt ?? now + 3_600_000,
          tries: 0,
          sends: 0,
          error: '',
        })),
      )
      .returning('id')
      .execute();
    await trx
      .insertInto('sms_ledger')
      .values(
        parts.map(({ id }) => ({ account_id: accountId, part_id: id, kind: 'hold', amount: -price, created_at: now })),
      )
      .execute();
    return parts.map(({ id }) => id);
  });
}

export async function readParts(db: Db) {
  return await db.query.selectFrom('sms_part').selectAll().orderBy('id').execute();
}

/**
 * Checks the money: the ledger's sum is the balance; every part is held once, and then charged or paid back, never both; ended
 * parts are settled, and others are not paid back.
 */
export async function checkMoney(db: Db, chargeAt: ChargeAt = 'submit'): Promise<void> {
  const balances = await db.query.selectFrom('sms_balance').selectAll().execute();
  const entries = await db.query.selectFrom('sms_ledger').selectAll().execute();
  for (const { account_id, balance } of balances) {
    const own = entries.filter((entry) => entry.account_id === account_id);
    assert.equal(
      own.reduce((sum, { amount }) => sum + amount, 0),
      balance,
      'the ledger sums up to the balance',
    );
  }
  const byPart = Map.groupBy(
    entries.filter(({ part_id }) => part_id !== null),
    ({ part_id }) => part_id,
  );
  for (const { id, state, revisable_until } of await readParts(db)) {
    const kinds = (byPart.get(id) ?? [])
      .map(({ kind }) => kind)
      .sort()
      .join();
    const allowed = [...allowedEntries(state, chargeAt), ...(revisable_until === null ? [] : ['hold'])];
    assert.ok(allowed.includes(kinds), `part ${id} is ${state}, and of it there is ${kinds}`);
  }
}

/**
 * Ledger entries that a part in this state may have. By `submit`, a receipt fails a charged part; before it was submitted, one
 * that is paid back.
 */
function allowedEntries(state: string, chargeAt: ChargeAt): readonly string[] {
  // What had opted out when it was accepted was never held.
  if (state === 'rejected') return ['', 'hold,refund'];
  if (chargeAt === 'receipt') {
    if (['failed', 'expired', 'unknown'].includes(state)) return ['hold,refund'];
    return ['simulated', 'delivered'].includes(state) ? ['charge,hold'] : ['hold'];
  }
  if (['failed', 'expired'].includes(state)) return ['charge,hold', 'hold,refund'];
  return ['submitted', 'simulated', 'delivered', 'unknown'].includes(state) ? ['charge,hold'] : ['hold'];
}

export function testRing(): Keyring {
  const newest = { id: 'k1', key: randomBytes(32) };
  return {
    newest,
    checks: () => ({ k1: '1' }),
    find: (id) => (id === newest.id ? newest : undefined),
    add: () => newest,
  };
}
