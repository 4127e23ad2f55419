/** What an account has ordered in a day, on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAccount } from '#db/tables/accounts.ts';
import { type CacheAmounts, pruneTasks, takeDayPlaces } from '#db/tables/cache-tasks.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const LIMITS: CacheAmounts = { purgeUrls: 3, purgeDirectories: 2, prefetchUrls: 1 };

describeOnBothEngines('cache usage', (newDatabase) => {
  test('each kind of cache order has a daily limit; a lowered limit refuses only its own kind', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const { id: accountId } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
    const take = (
      purgeUrls: number,
      purgeDirectories: number,
      prefetchUrls: number,
      limits = LIMITS,
      day = '2026-01-31',
    ) =>
      db.transaction((trx) =>
        takeDayPlaces(trx, { accountId, day }, { purgeUrls, purgeDirectories, prefetchUrls }, limits),
      );
    assert.equal(await take(3, 0, 1), undefined);
    assert.deepEqual(await take(1, 0, 0), { purgeUrls: 3, purgeDirectories: 0, prefetchUrls: 1 });
    assert.equal(await take(0, 2, 0), undefined);
    assert.deepEqual(await take(0, 0, 1), { purgeUrls: 3, purgeDirectories: 2, prefetchUrls: 1 });
    const lowered = { ...LIMITS, prefetchUrls: 0, purgeUrls: 4 };
    assert.equal(await take(1, 0, 0, lowered), undefined);
    assert.deepEqual(await take(0, 0, 1, lowered), { purgeUrls: 4, purgeDirectories: 2, prefetchUrls: 1 });
    assert.equal(await take(3, 2, 1, LIMITS, '2026-02-01'), undefined);
  });

  test('daily counts are deleted a month after their day', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const { id: accountId } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
    for (const day of ['2026-01-01', '2026-01-02', '2026-02-01'])
      await db.transaction((trx) => takeDayPlaces(trx, { accountId, day }, LIMITS, LIMITS));
    await pruneTasks(db.query, Date.UTC(2026, 1, 1));
    const rows = await db.query.selectFrom('cache_usage').select('day').orderBy('day').execute();
    assert.deepEqual(
      rows.map(({ day }) => day),
      ['2026-01-02', '2026-02-01'],
    );
  });
});
