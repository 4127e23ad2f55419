/** Connectors of the protocols of China's carriers. docs/decisions/0753 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import type { ColumnWords } from '../engines/column-types.ts';

export function smsConnectorKinds(_words: ColumnWords): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await sql`alter table sms_connector drop constraint sms_connector_kind`.execute(db);
      await sql`alter table sms_connector add constraint sms_connector_kind
        check (kind in ('loopback', 'smpp', 'cmpp2', 'cmpp3', 'smgp', 'sgip'))`.execute(db);
    },
  };
}
