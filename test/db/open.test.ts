/** Opening either engine, transactions, and what happens when the database goes away. */
import assert from 'node:assert/strict';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { test } from 'node:test';
import { sql } from 'kysely';
import { migrateTo } from '#db/migrations/migrations.ts';
import { openDatabase, openEngine } from '#db/open.ts';
import { runBatch } from '#db/statements/batch.ts';
import { countAccounts, createAccount } from '#db/tables/accounts.ts';
import { listCertificates } from '#db/tables/certificates.ts';
import { insertLogPart, listLogParts } from '#db/tables/log-parts.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { lockSmsBalances } from '#db/tables/sms/balance.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { describeOnBothEngines, EMPTY, emptyPostgres, emptySqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putSite, silentLog } from '../support/feed/feed.ts';
import { startRelay } from '../support/relay.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const ANN = { name: 'ann', kind: 'customer', now: 1 } as const;

describeOnBothEngines(
  'database',
  (newDatabase) => {
    test('a database opened again keeps its contents and its epoch', async (t) => {
      const target = await newDatabase(t);
      const heads = [];
      for (let opened = 1; opened <= 2; opened += 1) {
        await using db = await openTestDatabase(target);
        await createAccount(db.query, ANN);
        assert.equal(await countAccounts(db.query), opened);
        heads.push(await readConfigHead(db.query));
      }
      assert.deepEqual(heads[0], heads[1]);
      assert.match(heads[0]?.epoch ?? '', /^[0-9a-f-]{36}$/);
    });

    test('a database that a newer release has changed is refused', async (t) => {
      const target = await newDatabase(t);
      {
        await using db = await openTestDatabase(target);
        await sql`insert into kysely_migration values ('9999-from-the-future', '2030-01-01T00:00:00Z')`.execute(
          db.query,
        );
      }
      await assert.rejects(
        openTestDatabase(target),
        /cannot be brought up to date: it has been used by a newer release/,
      );
    });

    test('a transaction that throws leaves nothing behind, and the next one goes on', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      const failed = db.transaction(async (trx) => {
        await createAccount(trx, ANN);
        throw new Error('no');
      });
      await assert.rejects(failed, /^Error: no$/);
      assert.equal(await countAccounts(db.query), 0);
      await db.transaction((trx) => createAccount(trx, ANN));
      assert.equal(await countAccounts(db.query), 1);
    });

    test('queries beside a transaction do not fall into it', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      let beside: Promise<unknown> = Promise.resolve();
      const failed = db.transaction(async (trx) => {
        await createAccount(trx, ANN);
        beside = createAccount(db.query, ANN);
        await countAccounts(trx);
        throw new Error('no');
      });
      await assert.rejects(failed, /no/);
      await beside;
      assert.equal(await countAccounts(db.query), 1);
    });

    test('a snapshot keeps its state while others write', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      await publishNow(db, putSite(1, 'a.example.com'));
      await db.snapshot(async (x) => {
        assert.equal((await readConfigHead(x)).revision, 1);
        await publishNow(db, putSite(1, 'a.example.com'));
        assert.equal((await readConfigHead(x)).revision, 1);
      });
      await assert.rejects(db.snapshot((x) => createAccount(x, ANN)));
      assert.equal((await readConfigHead(db.query)).revision, 2);
    });

    test('a publish is noticed once it is committed, and never if it is rolled back', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      const heard: number[] = [];
      const unsubscribe = db.onPublish(() => heard.push(heard.length));
      // PostgreSQL says so once when it begins to listen.
      if (db.engine === 'postgres') await eventually('it listens', () => heard.length === 1);
      const before = heard.length;
      await createAccount(db.query, ANN);
      await db.transaction((trx) => createAccount(trx, ANN));
      await publishNow(db, putSite(1, 'a.example.com'));
      await eventually('the publish is heard', () => heard.length === before + 1);
      unsubscribe();
      await publishNow(db, putSite(1, 'a.example.com'));
      assert.equal(heard.length, before + 1);
    });

    test('log files of an earlier release keep the order in which they were served', async (t) => {
      const target = await newDatabase(t);
      const engine = await openEngine({ ...target, log: silentLog });
      await migrateTo(engine.query, engine.words, '0015-sms-receipt-facts');
      for (const key of ['7/2026-01-31/02.b', '7/2026-01-31/10.a', '7/2026-02-01/01.a', '7/2026-01-31/02.a'])
        await sql`insert into log_part (key, domain_id, day, bytes, lines, received_at)
          values (${key}, 7, ${key.slice(2, 12)}, 1, 1, 1)`.execute(engine.query);
      await engine[Symbol.asyncDispose]();
      await using db = await openTestDatabase(target);
      const late = { domainId: 7, day: '2026-01-31', bytes: 1, lines: 1 };
      assert.equal(await insertLogPart(db.query, { ...late, key: '7/2026-01-31/00.a' }, 2), true);
      const keys = async (day: string) => (await listLogParts(db.query, 7, day)).map(({ key }) => key.slice(13));
      assert.deepEqual(await keys('2026-01-31'), ['02.a', '02.b', '10.a', '00.a']);
      assert.deepEqual(await keys('2026-02-01'), ['01.a']);
    });

    test('certificates of an earlier release get the kind of their key', needs('openssl'), async (t) => {
      const target = await newDatabase(t);
      const engine = await openEngine({ ...target, log: silentLog });
      await migrateTo(engine.query, engine.words, '0023-acme-written');
      await sql`insert into account (name, kind, created_at) values ('ann', 'customer', 1)`.execute(engine.query);
      const authority = createAuthority(t);
      for (const [key, isRsa] of [
        ['a', true],
        ['b', false],
      ] as const)
        await sql`insert into certificate
            (key, account_id, title, fingerprint, chain, private_key, issuer, names, valid_from, valid_to, created_at)
          select ${key}, id, '', ${key}, ${authority.issue(['www.example.com'], { isRsa }).cert}, '', '', '[]', 1, 2, 3
            from account`.execute(engine.query);
      await engine[Symbol.asyncDispose]();
      await using db = await openTestDatabase(target);
      const { id } = await db.query.selectFrom('account').select('id').executeTakeFirstOrThrow();
      const kinds = (await listCertificates(db.query, { accountId: id, domainIds: undefined })).map(
        ({ key, keyKind }) => [key, keyKind],
      );
      assert.deepEqual(kinds, [
        ['a', 'rsa'],
        ['b', 'ecdsa'],
      ]);
    });

    test('numbers beyond 32 bits come back as they went in', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      const account = await createAccount(db.query, { ...ANN, now: Number.MAX_SAFE_INTEGER });
      assert.equal(account.createdAt, Number.MAX_SAFE_INTEGER);
    });
  },
  EMPTY,
);

test('a SQLite database is readable by its user only, durable and strict', async (t) => {
  const target = await emptySqlite(t);
  await using db = await openTestDatabase(target);
  for (const suffix of ['', '-wal', '-shm']) assert.equal(statSync(target.file + suffix).mode & 0o777, 0o600, suffix);
  const read = async (name: string) => {
    const { rows } = await sql.raw<Record<string, unknown>>(`pragma ${name}`).execute(db.query);
    return Object.values(rows[0] ?? {})[0];
  };
  const settings = ['journal_mode', 'synchronous', 'foreign_keys', 'busy_timeout'];
  assert.deepEqual(await Promise.all(settings.map(read)), ['wal', 2, 1, 5000]);
  await assert.rejects(sql`update config_head set revision = 'x'`.execute(db.query));
  await assert.rejects(sql`insert into domain (id) values (2147483648)`.execute(db.query));
});

test('a file that is not a SQLite database is refused by name and left unchanged', async (t) => {
  const file = join(temporaryFolder(t), 'causeway.db');
  writeFileSync(file, 'no database, but somebody wants it back'.repeat(100));
  await assert.rejects(openTestDatabase({ file }), (error: Error) => error.message.includes(file));
  assert.equal(statSync(file).size, 3900);
});

test('a SQLite migration that is cut short leaves nothing behind', async (t) => {
  const target = await emptySqlite(t);
  const database = new DatabaseSync(target.file);
  database.exec('create table edge (id text) strict'); // the last table of the step is in its way
  await assert.rejects(openTestDatabase(target));
  const tables = database.prepare("select name from sqlite_schema where type = 'table' and name like 'domain%'").all();
  assert.deepEqual(tables, []);
  database.exec('drop table edge');
  database.close();
  await using db = await openTestDatabase(target);
  assert.equal(await countAccounts(db.query), 0);
});

test('a PostgreSQL that cannot be reached is a clear error without the password', async () => {
  const url = 'postgres://me:secret@127.0.0.1:1/causeway';
  await assert.rejects(openDatabase({ url, file: '', log: silentLog }), (error: Error) => {
    assert.match(error.message, /cannot use the database postgres:\/\/me@127\.0\.0\.1:1\/causeway: .*ECONNREFUSED/);
    return true;
  });
});

test(
  'a PostgreSQL that goes away fails the queries it meets and is used again when it is back',
  needs('postgres'),
  async (t) => {
    const target = await emptyPostgres(t);
    await using relay = await startRelay(target.url ?? '');
    await using db = await openTestDatabase({ ...target, url: relay.url });
    let heard = 0;
    db.onPublish(() => {
      heard += 1;
    });
    await eventually('it listens', () => heard === 1);
    const held = Promise.withResolvers<void>();
    const inTransaction = db.transaction(async (trx) => {
      await createAccount(trx, ANN);
      held.resolve();
      await eventually('the relay is cut', () => relay.isCut);
      await createAccount(trx, ANN);
    });
    await held.promise;
    relay.cut();
    await assert.rejects(inTransaction);
    await assert.rejects(countAccounts(db.query));
    await assert.rejects(db.transaction((trx) => countAccounts(trx)));
    relay.mend();
    assert.equal(await eventually('queries work again', async () => (await countAccounts(db.query)) === 0), true);
    await eventually('it listens again', () => heard >= 2);
    const before = heard;
    await publishNow(db, putSite(1, 'a.example.com'));
    await eventually('publishes are heard again', () => heard > before);
  },
);

test('a PostgreSQL database that cannot store every text is refused', needs('postgres'), async (t) => {
  const target = await emptyPostgres(t, "encoding 'LATIN1' locale 'C' template template0");
  await assert.rejects(
    openTestDatabase(target),
    /cannot use the database .*: its encoding is LATIN1, and UTF8 is needed/,
  );
});

test('a PostgreSQL database that two processes open at once is created once', needs('postgres'), async (t) => {
  const target = await emptyPostgres(t);
  const [one, two] = await Promise.all([openTestDatabase(target), openTestDatabase(target)]);
  await using _one = one;
  await using _two = two;
  assert.deepEqual(await readConfigHead(one.query), await readConfigHead(two.query));
});

test('transactions that deadlock are tried again until both are done', needs('postgres'), async (t) => {
  await using db = await openTestDatabase(await emptyPostgres(t));
  const one = await createAccount(db.query, ANN);
  const two = await createAccount(db.query, ANN);
  let tries = 0;
  const bothHold = Promise.withResolvers<void>();
  let holding = 0;
  const rename = (first: number, second: number) =>
    db.transaction(async (trx) => {
      tries += 1;
      await trx
        .updateTable('account')
        .set({ name: `by ${first}` })
        .where('id', '=', first)
        .execute();
      holding += 1;
      if (holding === 2) bothHold.resolve();
      await bothHold.promise;
      await trx
        .updateTable('account')
        .set({ name: `by ${first}` })
        .where('id', '=', second)
        .execute();
    });
  await Promise.all([rename(one.id, two.id), rename(two.id, one.id)]);
  assert.ok(tries >= 3, 'whoever was let go may meet the other once more');
});

test(
  'a prepared statement is sent to PostgreSQL once, by name, unless a pooler shares its connections',
  needs('postgres'),
  async (t) => {
    const target = await emptyPostgres(t);
    const countNames = async (listenUrl: string | undefined) => {
      await using db = await openDatabase({ ...target, ...(listenUrl !== undefined && { listenUrl }), log: silentLog });
      return await db.transaction(async (trx) => {
        for (const accountIds of [[1], [1, 2]]) await runBatch(trx, [lockSmsBalances({ accountIds })]);
        const { rows } = await sql<{ n: number }>`
        select count(*) as n from pg_prepared_statements where name like 'causeway%'`.execute(trx);
        return rows[0]?.n;
      });
    };
    assert.equal(await countNames(undefined), 1);
    assert.equal(await countNames(`${target.url}?application_name=listener`), 0);
  },
);
