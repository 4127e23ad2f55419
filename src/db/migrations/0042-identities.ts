/** People are known to an identity provider. docs/decisions/0666 */
import type { Kysely } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function identities({ bigint }: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema.alterTable('person').addColumn('identity', 'text').execute();
      await db.schema.alterTable('person').addColumn('identity_at', bigint).execute();
      await db.schema.createIndex('person_identity').on('person').column('identity').unique().execute();
    },
  };
}
