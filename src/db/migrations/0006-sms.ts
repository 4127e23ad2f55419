/** Tables of the SMS service. A fresh one has the loopback connector, and a route of every number to it. */
import { type ColumnDefinitionBuilder, type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function sms(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await createMoney(db, words);
      await createRequests(db, words);
      await createParts(db, words);
      await createTalk(db, words);
      await createConnectors(db, words);
    },
  };
}

function notNull(column: ColumnDefinitionBuilder): ColumnDefinitionBuilder {
  return column.notNull();
}

async function createMoney(
  db: Kysely<unknown>,
  { identity, bigIdentity, bigint, tableEnd }: ColumnWords,
): Promise<void> {
  await db.schema
    .createTable('sms_app')
    .addColumn('id', identity)
    .addColumn('account_id', 'integer', notNull)
    .addColumn('app_key', 'text', notNull)
    .addColumn('name', 'text', notNull)
    .addColumn('enabled', 'integer', notNull)
    .addColumn('created_at', bigint, notNull)
    .addColumn('settings', 'text', notNull)
    .addUniqueConstraint('sms_app_key', ['app_key'])
    .addForeignKeyConstraint('sms_app_account', ['account_id'], 'account', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('sms_balance')
    .addColumn('account_id', 'integer', (column) => column.primaryKey().references('account.id'))
    .addColumn('balance', bigint, (column) => column.notNull().check(sql`balance >= 0`))
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('sms_ledger')
    .addColumn('id', bigIdentity)
    .addColumn('account_id', 'integer', notNull)
    .addColumn('part_id', bigint)
    .addColumn('kind', 'text', notNull)
    .addColumn('amount', bigint, notNull)
    .addColumn('created_at', bigint, notNull)
    .addUniqueConstraint('sms_ledger_once', ['part_id', 'kind'])
    .addCheckConstraint('sms_ledger_kind', sql`kind in ('recharge', 'hold', 'charge', 'refund')`)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_app_of_account').on('sms_app').columns(['account_id', 'id']).execute();
  await db.schema.createIndex('sms_ledger_account').on('sms_ledger').columns(['account_id', 'id']).execute();
  await db.schema
    .createTable('sms_price')
    .addColumn('kind', 'text', notNull)
    .addColumn('prefix', 'text', notNull)
    .addColumn('price', bigint, notNull)
    .addPrimaryKeyConstraint('sms_price_key', ['kind', 'prefix'])
    .modifyEnd(tableEnd)
    .execute();
  // Until an operator sets prices a part costs 1: a balance counts parts.
  await sql`insert into sms_price (kind, prefix, price) values ('ordinary', '', 1), ('advertising', '', 1)`.execute(db);
  await db.schema
    .createTable('sms_app_change')
    .addColumn('replay_hash', 'text', notNull)
    .addColumn('enabled', 'integer', notNull)
    .addColumn('created_at', bigint, notNull)
    .addPrimaryKeyConstraint('sms_app_change_key', ['replay_hash'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_app_change_created').on('sms_app_change').column('created_at').execute();
  await db.schema.alterTable('account').addColumn('disabled_at', bigint).execute();
}

async function createRequests(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('sms_request')
    .addColumn('id', bigIdentity)
    .addColumn('sendid', 'text', notNull)
    .addColumn('account_id', 'integer', notNull)
    .addColumn('app_id', 'integer', notNull)
    .addColumn('kind', 'text', notNull)
    .addColumn('sms_type', 'integer', notNull)
    .addColumn('created_at', bigint, notNull)
    .addColumn('replay_hash', 'text', notNull)
    .addUniqueConstraint('sms_request_sendid', ['sendid'])
    .addUniqueConstraint('sms_request_replay', ['replay_hash'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_request_account').on('sms_request').columns(['account_id', 'id']).execute();
  await db.schema
    .createTable('sms_message')
    .addColumn('id', bigIdentity)
    .addColumn('request_id', bigint, notNull)
    .addColumn('account_id', 'integer', notNull)
    .addColumn('app_id', 'integer', notNull)
    .addColumn('kind', 'text', notNull)
    .addColumn('sms_type', 'integer', notNull)
    .addColumn('destination', 'text', notNull)
    .addColumn('parts', 'integer', notNull)
    .addColumn('price', bigint, notNull)
    .addColumn('reference', 'integer', notNull)
    .addColumn('connector_id', 'integer')
    .addColumn('created_at', bigint, notNull)
    .addForeignKeyConstraint('sms_message_request', ['request_id'], 'sms_request', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_message_request_id').on('sms_message').column('request_id').execute();
  await db.schema.createIndex('sms_message_destination').on('sms_message').columns(['destination', 'id']).execute();
  await sql`create index sms_message_long on sms_message (destination, id) where parts > 1`.execute(db);
}

async function createParts(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('sms_part')
    .addColumn('id', bigIdentity)
    .addColumn('message_id', bigint, notNull)
    .addColumn('n', 'integer', notNull)
    .addColumn('text', 'text', notNull)
    .addColumn('state', 'text', notNull)
    .addColumn('route', 'text', notNull)
    .addColumn('priority', 'integer', notNull)
    .addColumn('due_at', bigint, notNull)
    .addColumn('expire_at', bigint, notNull)
    .addColumn('tries', 'integer', notNull)
    .addColumn('sends', 'integer', notNull)
    .addColumn('connector_id', 'integer')
    .addColumn('lease_owner', 'text')
    .addColumn('lease_until', bigint)
    .addColumn('carrier_id', 'text')
    .addColumn('carrier_key', 'text')
    .addColumn('submitted_at', bigint)
    .addColumn('done_at', bigint)
    .addColumn('error', 'text', notNull)
    .addUniqueConstraint('sms_part_message', ['message_id', 'n'])
    .addForeignKeyConstraint('sms_part_of', ['message_id'], 'sms_message', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  const index = (name: string, columnNames: string[], state: string) =>
    db.schema
      .createIndex(name)
      .on('sms_part')
      .columns(columnNames)
      .where(sql.ref('state'), '=', sql.lit(state))
      .execute();
  await index('sms_part_queue', ['route', 'priority', 'due_at', 'id'], 'queued');
  await sql`create index sms_part_pinned on sms_part (connector_id)
    where state = 'queued' and connector_id is not null`.execute(db);
  await index('sms_part_expire', ['expire_at'], 'queued');
  await index('sms_part_lease', ['lease_until'], 'submitting');
  await index('sms_part_uncertain', ['submitted_at'], 'uncertain');
  await index('sms_part_unreported', ['submitted_at'], 'submitted');
  await db.schema
    .createIndex('sms_part_carrier')
    .on('sms_part')
    .columns(['carrier_key', 'connector_id'])
    .where(sql.ref('carrier_key'), 'is not', null)
    .execute();
  await db.schema
    .createTable('sms_attempt')
    .addColumn('id', bigIdentity)
    .addColumn('part_id', bigint, notNull)
    .addColumn('connector_id', 'integer', notNull)
    .addColumn('sent_at', bigint, notNull)
    .addColumn('ended_at', bigint, notNull)
    .addColumn('outcome', 'text', notNull)
    .addColumn('error', 'text', notNull)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_attempt_part').on('sms_attempt').column('part_id').execute();
}

/** What carriers and phones tell, and what customers are told. */
async function createTalk(db: Kysely<unknown>, { bigIdentity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('sms_receipt')
    .addColumn('id', bigIdentity)
    .addColumn('connector_id', 'integer', notNull)
    .addColumn('carrier_key', 'text', notNull)
    .addColumn('destination', 'text', notNull)
    .addColumn('reference', 'integer')
    .addColumn('state', 'text', notNull)
    .addColumn('error', 'text', notNull)
    .addColumn('raw', 'text', notNull)
    .addColumn('received_at', bigint, notNull)
    .addColumn('part_id', bigint)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createIndex('sms_receipt_orphan')
    .on('sms_receipt')
    .columns(['carrier_key', 'connector_id'])
    .where(sql.ref('part_id'), 'is', null)
    .execute();
  await db.schema.createIndex('sms_receipt_received').on('sms_receipt').column('received_at').execute();
  await db.schema
    .createTable('sms_reply')
    .addColumn('id', bigIdentity)
    .addColumn('connector_id', 'integer', notNull)
    .addColumn('app_id', 'integer')
    .addColumn('origin', 'text', notNull)
    .addColumn('text', 'text', notNull)
    .addColumn('received_at', bigint, notNull)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_reply_app').on('sms_reply').columns(['app_id', 'id']).execute();
  await db.schema
    .createTable('sms_opt_out')
    .addColumn('account_id', 'integer', notNull)
    .addColumn('number', 'text', notNull)
    .addColumn('created_at', bigint, notNull)
    .addPrimaryKeyConstraint('sms_opt_out_key', ['number', 'account_id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_opt_out_account').on('sms_opt_out').columns(['account_id', 'number']).execute();
  await db.schema
    .createTable('sms_delivery')
    .addColumn('id', bigIdentity)
    .addColumn('app_id', 'integer', notNull)
    .addColumn('kind', 'text', notNull)
    .addColumn('body', 'text', notNull)
    .addColumn('due_at', bigint, notNull)
    .addColumn('tries', 'integer', notNull)
    .addColumn('created_at', bigint, notNull)
    .addColumn('error', 'text', notNull)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_delivery_due').on('sms_delivery').columns(['due_at', 'id']).execute();
}

async function createConnectors(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('sms_connector')
    .addColumn('id', identity)
    .addColumn('name', 'text', notNull)
    .addColumn('kind', 'text', notNull)
    .addColumn('enabled', 'integer', notNull)
    .addColumn('settings', 'text', notNull)
    .addColumn('secret', 'text')
    .addColumn('parts_per_second', 'integer')
    .addColumn('changed_at', bigint, notNull)
    .addUniqueConstraint('sms_connector_name', ['name'])
    .addCheckConstraint('sms_connector_kind', sql`kind in ('loopback', 'smpp')`)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('sms_route')
    .addColumn('prefix', 'text', notNull)
    .addColumn('position', 'integer', notNull)
    .addColumn('connector_id', 'integer', notNull)
    .addPrimaryKeyConstraint('sms_route_key', ['prefix', 'position'])
    .addForeignKeyConstraint('sms_route_connector', ['connector_id'], 'sms_connector', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  await sql`insert into sms_connector (name, kind, enabled, settings, changed_at)
    values ('loopback', 'loopback', 1, '{}', 0)`.execute(db);
  await sql`insert into sms_route (prefix, position, connector_id) select '', 0, id from sms_connector`.execute(db);
}
