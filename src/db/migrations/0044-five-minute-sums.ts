/** Sums of five minutes, made from those of the minutes that are kept. docs/decisions/0742 */
import { type Kysely, sql } from 'kysely';
import type { Migration } from 'kysely/migration';

const SUMS = [
  'requests',
  'bytes_in',
  'bytes_out',
  'bytes_origin',
  'hits',
  'hit_bytes',
  'status_2xx',
  'status_3xx',
  'status_4xx',
  'status_5xx',
];
const FIVE_MINUTES_MS = 300_000;

export function fiveMinuteSums(): Migration {
  return {
    async up(db: Kysely<unknown>) {
      for (const [table, owner] of [
        ['stat_sum', 'domain_id'],
        ['stat_account', 'account_id'],
      ] as const)
        await sql`
          insert into ${sql.table(table)} (${sql.ref(owner)}, grain, at, ${sql.raw(SUMS.join(', '))})
          select ${sql.ref(owner)}, 'five', at - at % ${sql.lit(FIVE_MINUTES_MS)},
            ${sql.raw(SUMS.map((name) => `sum(${name})`).join(', '))}
          from ${sql.table(table)} where grain = 'minute'
          group by ${sql.ref(owner)}, at - at % ${sql.lit(FIVE_MINUTES_MS)}
        `.execute(db);
    },
  };
}
