/** Statements that are sent at once, on both engines, and what an error among them does to those behind it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql, type Transaction } from 'kysely';
import { openDatabase } from '#db/open.ts';
import type { Schema } from '#db/schema/schema.ts';
import { runBatch, writeBatch } from '#db/statements/batch.ts';
import { createLogger } from '#lib/logger.ts';
import { settleAll } from '#lib/settle-all.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';

const log = createLogger({ level: 'silent', name: 'test' });

function insertAccount(name: string, kind = 'customer') {
  return sql<{ id: number }>`insert into account (name, kind, created_at) values (${name}, ${kind}, 1) returning id`;
}

function countAccounts(trx: Transaction<Schema>) {
  return trx.selectFrom('account').select((e) => e.fn.countAll<number>().as('count'));
}

describeOnBothEngines('statements that go together', (newDatabase) => {
  test('statements that go together run in their order and return the rows of each, none for omitted ones', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const [a, none, counts, b] = await db.transaction((trx) =>
      runBatch(trx, [insertAccount('a'), undefined, countAccounts(trx), insertAccount('b')] as const),
    );
    assert.deepEqual([a, none, counts, b], [[{ id: 1 }], [], [{ count: 1 }], [{ id: 2 }]]);
  });

  test('statements that go together are all undone if one fails, and the next transaction is unaffected', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const failing = db.transaction((trx) =>
      runBatch(trx, [insertAccount('a'), insertAccount('b', 'no such kind'), insertAccount('c')] as const),
    );
    await assert.rejects(failing, /check/i);
    const [counts] = await db.transaction((trx) => runBatch(trx, [countAccounts(trx)] as const));
    assert.deepEqual(counts, [{ count: 0 }]);
  });

  test('statements of one transaction run side by side, in the order in which they were sent', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const counts = await db.transaction(async (trx) => {
      const insertTwo = async () => {
        await runBatch(trx, [insertAccount('a')]);
        await runBatch(trx, [insertAccount('b')]);
        return [];
      };
      const count = async () => (await runBatch(trx, [countAccounts(trx)] as const))[0];
      return [...(await settleAll([insertTwo(), count()] as const)), await count()];
    });
    assert.deepEqual(counts, [[], [{ count: 1 }], [{ count: 2 }]]);
  });

  test('a statement that nobody awaits makes its transaction fail, and nothing is stored', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const failing = db.transaction((trx) => writeBatch(trx, [insertAccount('a'), insertAccount('b', 'no such kind')]));
    await assert.rejects(failing, /check/i);
    await db.transaction((trx) => writeBatch(trx, [insertAccount('c')]));
    const names = await db.query.selectFrom('account').select('name').execute();
    assert.deepEqual(names, [{ name: 'c' }]);
  });

  test('a failing statement is reported when all of its batch have ended', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const failing = db.transaction((trx) => {
      const slow = async () => {
        for (const name of ['a', 'b', 'c']) await runBatch(trx, [insertAccount(name)]).catch(() => undefined);
      };
      return settleAll([runBatch(trx, [insertAccount('d', 'no such kind')]), slow()] as const);
    });
    await assert.rejects(failing, /check/i);
    assert.deepEqual(await db.query.selectFrom('account').select('name').execute(), []);
  });
});

test('statements after an error that ended a SQLite transaction are not run outside of it', async (t) => {
  await using db = await openDatabase({ ...(await newSqlite(t)), log });
  const ending = sql`insert or rollback into account (id, name, kind, created_at) values (1, 'twice', 'customer', 1)`;
  const failing = db.transaction((trx) =>
    runBatch(trx, [insertAccount('a'), ending, insertAccount('b'), insertAccount('c')] as const),
  );
  await assert.rejects(failing, /UNIQUE constraint failed: account.id/);
  const swallowing = db.transaction(async (trx) => {
    await insertAccount('a').execute(trx);
    await assert.rejects(ending.execute(trx), /UNIQUE/);
    await insertAccount('b').execute(trx);
  });
  await assert.rejects(swallowing, /UNIQUE/, 'told what ended it');
  await db.transaction((trx) => insertAccount('d').execute(trx));
  const names = await db.query.selectFrom('account').select('name').execute();
  assert.deepEqual(names, [{ name: 'd' }]);
});

test('a SQLite database completes the calls it was given before it is closed, and refuses later ones', async (t) => {
  const target = await newSqlite(t);
  const db = await openDatabase({ ...target, log });
  const writing = db.transaction((trx) => insertAccount('a').execute(trx));
  await writing;
  await db[Symbol.asyncDispose]();
  await assert.rejects(db.transaction((trx) => insertAccount('b').execute(trx)));
  await using again = await openDatabase({ ...target, log });
  assert.deepEqual(await again.query.selectFrom('account').select('name').execute(), [{ name: 'a' }]);
});
