/** People: memberships, passkeys, recovery codes, invitations, and wrong tries to sign in. docs/decisions/0662 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function people(words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await addPersons(db, words);
      await addFactors(db, words);
      await addInvitations(db, words);
      await db.schema.alterTable('account').addColumn('second_factor', 'integer').execute();
    },
  };
}

async function addPersons(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  let person = db.schema
    .createTable('person')
    .addColumn('id', identity)
    .addColumn('email', 'text', (column) => column.notNull().unique());
  for (const name of ['name', 'locale', 'time_zone', 'density', 'secrets'])
    person = person.addColumn(name, 'text', (column) => column.notNull());
  person = person.addColumn('created_at', bigint, (column) => column.notNull());
  for (const name of ['disabled_at', 'password_at', 'totp_at']) person = person.addColumn(name, bigint);
  await person
    .addColumn('totp_step', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('membership')
    .addColumn('person_id', 'integer', (column) => column.notNull().references('person.id'))
    .addColumn('account_id', 'integer', (column) => column.notNull().references('account.id'))
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('invited_by', 'text', (column) => column.notNull())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addPrimaryKeyConstraint('membership_key', ['person_id', 'account_id'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('membership_account').on('membership').column('account_id').execute();
}

async function addFactors(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('passkey')
    .addColumn('id', identity)
    .addColumn('person_id', 'integer', (column) => column.notNull().references('person.id'))
    .addColumn('credential', 'text', (column) => column.notNull().unique())
    .addColumn('public_key', 'text', (column) => column.notNull())
    .addColumn('counter', bigint, (column) => column.notNull())
    .addColumn('transports', 'text', (column) => column.notNull())
    .addColumn('label', 'text', (column) => column.notNull())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('used_at', bigint)
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('passkey_person').on('passkey').column('person_id').execute();
  await db.schema
    .createTable('recovery_code')
    .addColumn('person_id', 'integer', (column) => column.notNull().references('person.id'))
    .addColumn('hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_code_key', ['person_id', 'hash'])
    .modifyEnd(tableEnd)
    .execute();
  await db.schema
    .createTable('used_challenge')
    .addColumn('hash', 'text', (column) => column.primaryKey())
    .addColumn('expires_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}

async function addInvitations(db: Kysely<unknown>, { identity, bigint, tableEnd }: ColumnWords): Promise<void> {
  await db.schema
    .createTable('invitation')
    .addColumn('id', identity)
    .addColumn('hash', 'text', (column) => column.notNull().unique())
    .addColumn('account_id', 'integer', (column) => column.references('account.id'))
    .addColumn('person_id', 'integer', (column) => column.references('person.id'))
    .addColumn('email', 'text', (column) => column.notNull())
    .addColumn('role', 'text', (column) => column.notNull())
    .addColumn('clears', 'integer', (column) => column.notNull())
    .addColumn('invited_by', 'text', (column) => column.notNull())
    .addColumn('created_at', bigint, (column) => column.notNull())
    .addColumn('expires_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
  await db.schema.createIndex('invitation_account').on('invitation').column('account_id').execute();
  await db.schema
    .createTable('sign_in_try')
    .addColumn('key', 'text', (column) => column.primaryKey())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('last_at', bigint, (column) => column.notNull())
    .modifyEnd(tableEnd)
    .execute();
}
