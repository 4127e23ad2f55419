/** Certificates say what kind of key they have. */
import { X509Certificate } from 'node:crypto';
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';
import { keyKindOf } from '#model/certificate.ts';

const BATCH = 100;

export function certificateKinds(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      await db.schema
        .alterTable('certificate')
        .addColumn('key_kind', 'text', (column) => column.notNull().defaultTo(''))
        .execute();
      for (let after = ''; ; ) {
        const { rows } = await sql<{ key: string; chain: string }>`
          select key, chain from certificate where key > ${after} order by key limit ${BATCH}`.execute(db);
        for (const { key, chain } of rows)
          await sql`
            update certificate set key_kind = ${keyKindOf(new X509Certificate(chain).publicKey)} where key = ${key}
          `.execute(db);
        const last = rows.at(-1);
        if (last === undefined) return;
        after = last.key;
      }
    },
  };
}
