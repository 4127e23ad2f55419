/** Transactions as procedures, here and in the thread of SQLite, and statements for many rows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { callProcedure, type Db, openDatabase } from '#db/open.ts';
import { runBatch } from '#db/statements/batch.ts';
import { insertRows, rowStatement, statement } from '#db/statements/statement.ts';
import { createLogger } from '#lib/logger.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { createProcedures, PROCEDURES_OF_TESTS } from '../support/db/procedures.ts';

const log = createLogger({ level: 'silent', name: 'test' });

async function namesOf(db: Db): Promise<readonly string[]> {
  const rows = await db.query.selectFrom('account').select('name').orderBy('id').execute();
  return rows.map(({ name }) => name);
}

describeOnBothEngines('a procedure', (newDatabase) => {
  test('a procedure is a transaction: it returns its result, and leaves nothing if it fails', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log, procedures: PROCEDURES_OF_TESTS });
    assert.equal(db.call !== undefined, db.engine === 'sqlite', 'where it runs');
    const procedures = createProcedures();
    const add = (name: string, kind = 'customer') =>
      callProcedure(db, procedures, 'addAccount', () => ({ name, kind }));
    assert.deepEqual(await add('a'), { calls: 1, accounts: 0 });
    await assert.rejects(add('b', 'no such kind'), /check/i);
    const [second, , third] = await Promise.all([add('c'), db.transaction((trx) => namesOfAll(trx)), add('d')]);
    const before = [second, third].map(({ accounts }) => accounts).sort();
    // Transactions of PostgreSQL may be side by side.
    if (db.engine === 'sqlite') assert.deepEqual(before, [2, 4], 'one after the other');
    assert.deepEqual((await namesOf(db)).toSorted(), ['a', 'a', 'c', 'c', 'd', 'd']);
  });
});

function namesOfAll(trx: Parameters<Parameters<Db['transaction']>[0]>[0]) {
  return trx.selectFrom('account').select('name').execute();
}

test('an unknown procedure is an error, and one that was called before closing is completed', async (t) => {
  const target = await newSqlite(t);
  const db = await openDatabase({ ...target, log, procedures: PROCEDURES_OF_TESTS });
  await assert.rejects(async () => db.call?.('nothing', () => undefined), /no procedure "nothing"/);
  const begun = Promise.withResolvers<void>();
  const adding = db.call?.('addAccount', () => {
    begun.resolve();
    return { name: 'a', kind: 'customer' };
  });
  await begun.promise;
  await Promise.all([adding, db[Symbol.asyncDispose]()]);
  await using again = await openDatabase({ ...target, log });
  assert.equal(again.call, undefined);
  assert.deepEqual(await namesOf(again), ['a', 'a']);
});

describeOnBothEngines('a statement for each row', (newDatabase) => {
  const columns = { name: 'text', created_at: 'bigint' } as const;

  test('a statement for each row runs for all rows, with the shared values', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const rows = [
      ['a', 1],
      ['b\0\ud800', 2 ** 40],
      ["'; drop table account; --", 3],
    ];
    const insert = rowStatement(columns, ({ v, from }) => {
      return sql`insert into account (name, kind, created_at) select ${v.name}, ${sql.lit('customer')}, ${v.created_at} ${from}`;
    });
    const disable = rowStatement({ name: 'text', disabled_at: 'bigint' }, ({ v, from }) => {
      return sql`update account set disabled_at = ${v.disabled_at} ${from} where account.name = ${v.name}`;
    });
    await db.transaction((trx) => runBatch(trx, [insert(trx, rows), insert(trx, []), disable(trx, [['a', 7]])]));
    const stored = await db.query
      .selectFrom('account')
      .select(['name', 'created_at', 'disabled_at'])
      .orderBy('created_at')
      .execute();
    assert.deepEqual(stored, [
      { name: 'a', created_at: 1, disabled_at: 7 },
      { name: "'; drop table account; --", created_at: 3, disabled_at: null },
      { name: 'b\ufffd\ufffd', created_at: 2 ** 40, disabled_at: null },
    ]);
  });

  test('a statement for each row that fails for one row stores none of them', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    const insert = rowStatement({ name: 'text', kind: 'text' }, ({ v, from }) => {
      return sql`insert into account (name, kind, created_at) select ${v.name}, ${v.kind}, 1 ${from}`;
    });
    const rows = [
      ['a', 'customer'],
      ['b', 'none'],
      ['c', 'customer'],
    ];
    const failing = db.transaction((trx) => runBatch(trx, [insert(trx, rows)]));
    await assert.rejects(failing, /check/i);
    assert.deepEqual(await namesOf(db), []);
  });
});

describeOnBothEngines('a statement that is made once', (newDatabase) => {
  test('a statement that is made once uses the values of each call, lists of any length too', async (t) => {
    await using db = await openDatabase({ ...(await newDatabase(t)), log });
    let made = 0;
    const found = statement({ ids: 'ids', names: 'rows', least: 'value' }, ({ ids, names, least }) => {
      made += 1;
      return sql<{ name: string }>`
        select name as name from account where id ${ids} and name in (select value ->> 0 from ${names})
          and created_at >= ${least} order by id`;
    });
    const insert = insertRows<'account', { name: string; n: number }>('account', {
      id: ['integer', ({ n }) => n + 1],
      name: ['text', ({ name }) => name],
      kind: ['text', () => 'customer'],
      created_at: ['bigint', ({ n }) => n],
    });
    const rows = ['a', 'b', 'c'].map((name, n) => ({ name, n }));
    // As many as make several rows at once, and some that are left.
    const more = Array.from({ length: 39 }, (_, n) => ({ name: n === 7 ? 'x\0' : `more ${n}`, n: n + 3 }));
    const given = [
      { ids: [1, 2, 3], names: [['a'], ['c'], ['x\0']], least: 0 },
      { ids: [1, 2, 3], names: [['a'], ['c']], least: 1 },
      { ids: [2], names: [['b']], least: 0 },
      { ids: [], names: [], least: 0 },
    ];
    const names = await db.transaction(async (trx) => {
      await runBatch(trx, [insert(trx, rows.slice(0, 1)), insert(trx, [...rows.slice(1), ...more]), insert(trx, [])]);
      return await runBatch(trx, given.map(found));
    });
    const texts = names.map((own) => own.map(({ name }) => name).join());
    assert.deepEqual(texts, ['a,c', 'c', 'b', '']);
    assert.equal(made, 1);
    const stored = await db.query.selectFrom('account').select(['id', 'name', 'created_at']).orderBy('id').execute();
    const expected = [...rows, ...more].map(({ name, n }) => ({
      id: n + 1,
      name: name === 'x\0' ? 'x\ufffd' : name,
      created_at: n,
    }));
    assert.deepEqual(stored, expected);
  });
});
