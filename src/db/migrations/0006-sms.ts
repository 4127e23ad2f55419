/** Tables of the SMS service. A fresh one has the loopback connector, and a route of every number to it. */
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';
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

/** `a:text b:int c:int?` with a default after `=`: a column each; the types are those of the engine. */
function columns<T extends string>(
  table: CreateTableBuilder<T>,
  { bigint }: ColumnWords,
  text: string,
): CreateTableBuilder<T, string> {
  let result: CreateTableBuilder<T, string> = table;
  for (const [, name = '', type = '', isNullable = ''] of text.matchAll(/(\w+):(\w+)(\??)/g)) {
    const dataType = type === 'big' ? bigint : type === 'int' ? 'integer' : 'text';
    result = result.addColumn(name, dataType, (column) => (isNullable === '?' ? column : column.notNull()));
  }
  return result;
}

async function createMoney(db: Kysely<unknown>, words: ColumnWords): Promise<void> {
  const { identity, bigIdentity, bigint, tableEnd } = words;
  await columns(
    db.schema.createTable('sms_app').addColumn('id', identity),
    words,
    'account_id:int app_key:text name:text enabled:int created_at:big settings:text',
  )
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
  await columns(
    db.schema.createTable('sms_ledger').addColumn('id', bigIdentity),
    words,
    'account_id:int part_id:big? kind:text amount:big created_at:big',
  )
    .addUniqueConstraint('sms_ledger_once', ['part_id', 'kind'])
    .addCheckConstraint('sms_ledger_kind', sql`kind in ('recharge', 'hold', 'charge', 'refund')`)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_app_of_account').on('sms_app').columns(['account_id', 'id']).execute();
  await db.schema.createIndex('sms_ledger_account').on('sms_ledger').columns(['account_id', 'id']).execute();
  await columns(db.schema.createTable('sms_price'), words, 'kind:text prefix:text price:big')
    .addPrimaryKeyConstraint('sms_price_key', ['kind', 'prefix'])
    .modifyEnd(tableEnd)
    .execute();
  // Until an operator sets prices a part costs 1: a balance counts parts.
  await sql`insert into sms_price (kind, prefix, price) values ('ordinary', '', 1), ('advertising', '', 1)`.execute(db);
  await columns(db.schema.createTable('sms_app_change'), words, 'replay_hash:text enabled:int created_at:big')
    .addPrimaryKeyConstraint('sms_app_change_key', ['replay_hash'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_app_change_created').on('sms_app_change').column('created_at').execute();
  await db.schema.alterTable('account').addColumn('disabled_at', bigint).execute();
}

async function createRequests(db: Kysely<unknown>, words: ColumnWords): Promise<void> {
  const { bigIdentity, tableEnd } = words;
  await columns(
    db.schema.createTable('sms_request').addColumn('id', bigIdentity),
    words,
    'sendid:text account_id:int app_id:int kind:text sms_type:int created_at:big replay_hash:text',
  )
    .addUniqueConstraint('sms_request_sendid', ['sendid'])
    .addUniqueConstraint('sms_request_replay', ['replay_hash'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_request_account').on('sms_request').columns(['account_id', 'id']).execute();
  await columns(
    db.schema.createTable('sms_message').addColumn('id', bigIdentity),
    words,
    `request_id:big account_id:int app_id:int kind:text sms_type:int destination:text parts:int price:big reference:int
     connector_id:int? created_at:big`,
  )
    .addForeignKeyConstraint('sms_message_request', ['request_id'], 'sms_request', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_message_request_id').on('sms_message').column('request_id').execute();
  await db.schema.createIndex('sms_message_destination').on('sms_message').columns(['destination', 'id']).execute();
  await sql`create index sms_message_long on sms_message (destination, id) where parts > 1`.execute(db);
}

async function createParts(db: Kysely<unknown>, words: ColumnWords): Promise<void> {
  const { bigIdentity, tableEnd } = words;
  await columns(
    db.schema.createTable('sms_part').addColumn('id', bigIdentity),
    words,
    `message_id:big n:int text:text state:text route:text priority:int due_at:big expire_at:big tries:int sends:int
     connector_id:int? lease_owner:text? lease_until:big? carrier_id:text? carrier_key:text? submitted_at:big?
     done_at:big? error:text`,
  )
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
  await columns(
    db.schema.createTable('sms_attempt').addColumn('id', bigIdentity),
    words,
    'part_id:big connector_id:int sent_at:big ended_at:big outcome:text error:text',
  )
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_attempt_part').on('sms_attempt').column('part_id').execute();
}

/** What carriers and phones tell, and what customers are told. */
async function createTalk(db: Kysely<unknown>, words: ColumnWords): Promise<void> {
  const { bigIdentity, tableEnd } = words;
  await columns(
    db.schema.createTable('sms_receipt').addColumn('id', bigIdentity),
    words,
    'connector_id:int carrier_key:text destination:text reference:int? state:text error:text raw:text received_at:big part_id:big?',
  )
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createIndex('sms_receipt_orphan')
    .on('sms_receipt')
    .columns(['carrier_key', 'connector_id'])
    .where(sql.ref('part_id'), 'is', null)
    .execute();
  await db.schema.createIndex('sms_receipt_received').on('sms_receipt').column('received_at').execute();
  await columns(
    db.schema.createTable('sms_reply').addColumn('id', bigIdentity),
    words,
    'connector_id:int app_id:int? origin:text text:text received_at:big',
  )
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_reply_app').on('sms_reply').columns(['app_id', 'id']).execute();
  await columns(db.schema.createTable('sms_opt_out'), words, 'account_id:int number:text created_at:big')
    .addPrimaryKeyConstraint('sms_opt_out_key', ['number', 'account_id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_opt_out_account').on('sms_opt_out').columns(['account_id', 'number']).execute();
  await columns(
    db.schema.createTable('sms_delivery').addColumn('id', bigIdentity),
    words,
    'app_id:int kind:text body:text due_at:big tries:int created_at:big error:text',
  )
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('sms_delivery_due').on('sms_delivery').columns(['due_at', 'id']).execute();
}

async function createConnectors(db: Kysely<unknown>, words: ColumnWords): Promise<void> {
  const { identity, tableEnd } = words;
  await columns(
    db.schema.createTable('sms_connector').addColumn('id', identity),
    words,
    'name:text kind:text enabled:int settings:text secret:text? parts_per_second:int? changed_at:big',
  )
    .addUniqueConstraint('sms_connector_name', ['name'])
    .addCheckConstraint('sms_connector_kind', sql`kind in ('loopback', 'smpp')`)
    .modifyEnd(tableEnd)
    .execute();
  await columns(db.schema.createTable('sms_route'), words, 'prefix:text position:int connector_id:int')
    .addPrimaryKeyConstraint('sms_route_key', ['prefix', 'position'])
    .addForeignKeyConstraint('sms_route_connector', ['connector_id'], 'sms_connector', ['id'])
    .modifyEnd(tableEnd)
    .execute();
  await sql`insert into sms_connector (name, kind, enabled, settings, changed_at)
    values ('loopback', 'loopback', 1, '{}', 0)`.execute(db);
  await sql`insert into sms_route (prefix, position, connector_id) select '', 0, id from sms_connector`.execute(db);
}
