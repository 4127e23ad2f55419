/** Sums of accounts: made from those of domains by the update, and added to by reports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { migrateTo } from '#db/migrations/migrations.ts';
import { openEngine } from '#db/open.ts';
import type { Executor } from '#db/schema/schema.ts';
import { addAccountSums, listAccountSums } from '#db/tables/account-sums.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { addSums, type SumRow } from '#db/tables/statistics.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { describeOnBothEngines, EMPTY } from '../support/db/databases.ts';
import { openTestDatabase, silentLog } from '../support/feed/feed.ts';

const HOUR_MS = 3_600_000;
const NONE = { bytes_in: 0, bytes_out: 0, bytes_origin: 0, hits: 0, hit_bytes: 0 };
const STATUSES = { status_2xx: 0, status_3xx: 0, status_4xx: 0, status_5xx: 0 };

function row(domain_id: number, at: number, requests: number): SumRow {
  return { domain_id, grain: 'hour', at, requests, ...NONE, ...STATUSES };
}

async function addDomain(x: Executor, account_id: number, name: string): Promise<number> {
  const { id } = await x
    .insertInto('domain')
    .values({
      ...{ account_id, name, type: 'static', icp_number: '', remark: '', state: 'open' },
      ...{ created_at: 0, setting_revision: 0, settings: JSON.stringify(DEFAULT_SETTINGS), deleted_at: null },
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  return id;
}

describeOnBothEngines(
  'sums of accounts',
  (newDatabase) => {
    test('the update adds up what domains had, and reports go on from there', async (t) => {
      const target = await newDatabase(t);
      const ids: number[] = [];
      const accounts: number[] = [];
      {
        await using engine = await openEngine({ ...target, log: silentLog });
        await migrateTo(engine.query, engine.words, '0038-cache-task-account');
        for (const name of ['one', 'two'])
          accounts.push((await createAccount(engine.query, { name, kind: 'customer', now: 0 })).id);
        const [first = 0, second = 0] = accounts;
        for (const [owner, name] of [
          [first, 'a.example'],
          [first, 'b.example'],
          [second, 'c.example'],
        ] as const)
          ids.push(await addDomain(engine.query, owner, name));
        const [a = 0, b = 0, c = 0] = ids;
        await addSums(engine.query, [row(a, 0, 1), row(b, 0, 2), row(b, HOUR_MS, 4), row(c, 0, 8), row(0, 0, 16)]);
      }
      await using db = await openTestDatabase(target);
      const [first = 0, second = 0] = accounts;
      const sumsOf = async (accountId: number, to = 2 * HOUR_MS) =>
        (await listAccountSums(db.query, { accountId, grain: 'hour', from: 0, to })).map(({ at, requests }) => [
          at,
          requests,
        ]);
      assert.deepEqual(
        [await sumsOf(first), await sumsOf(second)],
        [
          [
            [0, 3],
            [HOUR_MS, 4],
          ],
          [[0, 8]],
        ],
      );
      const [a = 0, b = 0] = ids;
      const report = [row(a, HOUR_MS, 1), row(b, HOUR_MS, 1), row(0, 0, 1), row(999_999, 0, 1)];
      await db.transaction((trx) => addAccountSums(trx, report));
      assert.deepEqual(await sumsOf(first), [
        [0, 3],
        [HOUR_MS, 6],
      ]);
      assert.deepEqual(await sumsOf(first, HOUR_MS), [[0, 3]], 'the end is not included');
    });
  },
  EMPTY,
);
