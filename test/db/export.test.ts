/** The database as a file, and a database from it, from each engine to each; incomplete exports are refused. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { sql } from 'kysely';
import { readCatalogue } from '#db/export/catalogue.ts';
import { SEEDS, TABLE_NAMES } from '#db/export/tables.ts';
import type { Db } from '#db/open.ts';
import { type Keyring, loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { saveLiveKeys } from '#db/tables/live/keys.ts';
import { recordLiveReport } from '#db/tables/live/reports.ts';
import { forbidStream } from '#db/tables/live/streams.ts';
import { publish, readConfigHead } from '#db/tables/resources.ts';
import { saveConnector } from '#db/tables/sms/connectors.ts';
import { saveWebhook } from '#db/tables/sms/deliveries.ts';
import { makeViewKey } from '#db/tables/view-keys.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { SMPP_DEFAULTS } from '#model/sms-connector.ts';
import { startTestApi } from '../support/api/api.ts';
import { add, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { formsOf } from '../support/certificates/secret-forms.ts';
import {
  type DatabaseTarget,
  describeOnBothEngines,
  EMPTY,
  emptyPostgres,
  emptySqlite,
  type NewDatabase,
} from '../support/db/databases.ts';
import { exportText, importText, linesOf, sealLines, withoutEpoch } from '../support/db/exports.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { began, onAir } from '../support/live/live-reports.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { needs } from '../support/runner/needs.ts';
import { openSmsAccount, queueMessage } from '../support/sms/sms-queue.ts';
import { type Cleanup, temporaryFolder } from '../support/temporary.ts';

const PASSWORD = 'of-the-carrier';
const WEBHOOK_SECRET = 'of-the-webhook';
const LIVE_KEY = 'ofTheEncoder0000';

describeOnBothEngines(
  'an export',
  (newDatabase) => {
    test('an export has every table, parents before children, and each table has a key to page by', async (t) => {
      await using db = await openTestDatabase(await newDatabase(t));
      const tables = await db.query.introspection.getTables();
      assert.deepEqual([...TABLE_NAMES].sort(), tables.map(({ name }) => name).sort());
      const catalogue = await readCatalogue(db.query);
      for (const { name, key, columns, identity } of catalogue) {
        assert.ok(key.length > 0, name);
        const isAssigned =
          columns.has('id') && !['config_head', 'edge', 'fleet', 'control', 'view_key', 'kept_answer'].includes(name);
        assert.equal(identity, isAssigned ? 'id' : undefined, name);
        const { rows } = await sql`select 1 from ${sql.table(name)}`.execute(db.query);
        assert.equal(rows.length, SEEDS[name], name);
      }
      const places = new Map<string, number>(TABLE_NAMES.map((name, place) => [name, place]));
      const query = db.engine === 'sqlite' ? SQLITE_REFERENCES : POSTGRES_REFERENCES;
      const { rows: references } = await query.execute(db.query);
      assert.ok(references.length > 5);
      for (const { name, refers_to: to } of references)
        assert.ok((places.get(to) ?? 0) < (places.get(name) ?? 0), `${name} stands before ${to}`);
    });

    for (const [engine, newTarget, options] of [
      ['SQLite', emptySqlite, needs('openssl')],
      ['PostgreSQL', emptyPostgres, needs('postgres', 'openssl')],
    ] as const) {
      test(`an export makes the same database on ${engine}, and edges begin anew`, options, async (t) => {
        const { target, ring } = await makeContent(t, newDatabase);
        const text = await exportText(target);
        const copy = await newTarget(t);
        const { rows, withoutSecret } = await importText(copy, text, ring);
        assert.deepEqual([rows, withoutSecret], [linesOf(text).length - 1, []]);
        assert.deepEqual(withoutEpoch(await exportText(copy)), withoutEpoch(text));
        await using before = await openTestDatabase(target);
        await using after = await openTestDatabase(copy);
        const [old, head] = [await readConfigHead(before.query), await readConfigHead(after.query)];
        assert.notEqual(head.epoch, old.epoch);
        assert.deepEqual({ ...head, epoch: '' }, { ...old, epoch: '' });
        // The newest domain was removed for good: its id is not given to another.
        const values = { account_id: 1, name: 'new.example', type: '', icp_number: '', remark: '', state: '' };
        const added = await after.query
          .insertInto('domain')
          .values({ ...values, created_at: 1, setting_revision: 0, settings: '{}' })
          .returning('id')
          .executeTakeFirstOrThrow();
        assert.equal(added.id, GONE_ID + 1);
      });
    }

    test(
      'an export without secrets has none; the import lists those to be given anew, and they can be',
      needs('openssl'),
      async (t) => {
        const { target, pair, token } = await makeContent(t, newDatabase);
        const text = await exportText(target, false);
        const secrets = [...formsOf(pair.key), PASSWORD, WEBHOOK_SECRET, LIVE_KEY];
        assert.deepEqual(
          secrets.filter((form) => text.includes(form)),
          [],
        );
        assert.doesNotMatch(text, /v1\.[0-9a-f]{16}\./);
        const copy = await newDatabase(t);
        const { withoutSecret, withoutSecretCount } = await importText(copy, text);
        const [certificate = '', keys, ...others] = withoutSecret;
        assert.match(certificate, /^private_key of certificate [0-9a-f]{32} \(标题\)$/);
        assert.equal(keys, 'sealed_keys of live_keys 1');
        assert.deepEqual(others, ['settings.webhookSecret of sms_app 1 (app)', 'secret of sms_connector 2 (carrier)']);
        assert.equal(withoutSecretCount, 4);
        const api = await startTestApi(t, async () => copy);
        api.now = Date.now();
        const { body } = await api.call('certificate.list', token, {});
        const [{ ssl_key = '' } = {}] = body['data'] as { ssl_key?: string }[];
        const published = () =>
          api.db.query
            .selectFrom('resource')
            .select(['deleted', 'body'])
            .where('kind', '=', 'certificate')
            .where('key', '=', ssl_key)
            .executeTakeFirst();
        assert.equal(await published(), undefined);
        const request = { ssl_title: 'again', private_key: pair.key, certificate: pair.cert };
        assert.equal(dataOf(await api.call('certificate.add', token, request))['ssl_key'], ssl_key);
        const again = await published();
        assert.equal(again?.deleted, 0);
        assert.match(again?.body ?? '', /"key":"v1\./);
      },
    );

    test(
      'an export with secrets has them sealed; its import needs the sealing key and an unused database',
      needs('openssl'),
      async (t) => {
        const { target, pair, ring } = await makeContent(t, newDatabase);
        const text = await exportText(target);
        assert.deepEqual(
          [...formsOf(pair.key), PASSWORD, WEBHOOK_SECRET, LIVE_KEY].filter((form) => text.includes(form)),
          [],
        );
        assert.match(text, new RegExp(`"private_key":"v1\\.${ring.newest.id}\\.`));
        const copy = await newDatabase(t);
        const other = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
        await assert.rejects(
          importText(copy, text, other),
          new RegExp(
            `^Error: line \\d+: a secret of resource certificate \\w+ is sealed with the key "${ring.newest.id}", which is not`,
          ),
        );
        await assert.rejects(importText(copy, text), /^Error: there is no ring$/);
        await assertUnused(copy);
        await importText(copy, text, ring);
        const used = await exportText(copy);
        await assert.rejects(
          importText(copy, text, ring),
          /the database is not empty \(there is something in account\)/,
        );
        assert.equal(await exportText(copy), used);
      },
    );

    test('an export has no view keys, with secrets or without', async (t) => {
      const target = await newDatabase(t);
      await using db = await openTestDatabase(target);
      const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
      await db.transaction((trx) => makeViewKey(trx, ring, { group: 'default', now: 1 }));
      for (const withSecrets of [true, false])
        assert.doesNotMatch(await exportText(target, withSecrets), /view_key/, `with secrets: ${withSecrets}`);
    });

    test('an export is one snapshot, whatever is written meanwhile', async (t) => {
      const target = await newDatabase(t);
      await using db = await openTestDatabase(target);
      const { accountId, appId } = await openSmsAccount(db, { now: 1 });
      const texts = Array.from({ length: 1000 }, (_, n) => `text ${n}`);
      await queueMessage(db, { accountId, appId }, { texts, now: 1 });
      const before = await exportText(target);
      assert.equal(before.match(/"table":"sms_part"/g)?.length, 1000);
      const [during] = await Promise.all([
        exportText(target),
        queueMessage(db, { accountId, appId }, { texts: ['later'], now: 1 }),
      ]);
      const money = /"table":"sms_balance","row":\{[^}]*"balance":(\d+)/.exec(during)?.[1];
      const holds = during.match(/"kind":"hold"/g)?.length ?? 0;
      assert.equal(Number(money), 1_000_000 - 5 * holds);
      const copy = await newDatabase(t);
      await importText(copy, before, undefined, 64 * 1024);
      assert.deepEqual(withoutEpoch(await exportText(copy)), withoutEpoch(before));
    });
  },
  EMPTY,
);

describe('an incomplete export', () => {
  test('an incomplete export is refused with the number of the line', async (t) => {
    const { text, lines, at, account, changed, refuse } = await makeFile(t, emptySqlite);
    const line = `^Error: line ${at + 1}: `;
    const newer = text.replace(/"step":"[^"]*"/, '"step":"9999-later"');
    const latin1 = Buffer.from(text.replace('"sms"', '"sm\u00ff"'), 'latin1');
    await refuse([
      ['empty', '', '^Error: line 1: the file is empty'],
      ['another file', 'PK\u0003\u0004\n', 'line 1: this is not an export'],
      ['other JSON', '[]\n', 'line 1: this is not an export'],
      [
        'newer format',
        text.replace('"format":1', '"format":2'),
        'line 1: it has the format 2, and this release reads 1',
      ],
      ['no last ids', text.replace('"last_ids"', '"ids"'), 'line 1: "step", '],
      ['newer release', newer, '"9999-later" is no state of the database that this release knows'],
      ['cut between lines', `${lines.join('\n')}\n`, `line ${lines.length + 1}: the last line is missing`],
      ['cut in a line', text.slice(0, text.indexOf(account) + 20), `${line}it is no JSON object`],
      ['cut in the last line', text.slice(0, -5), 'it is no JSON object: the file is cut or damaged'],
      ['a changed line', text.replace('"name":"sms"', '"name":"smt"'), 'the SHA-256 of the lines before is another'],
      ['more behind it', `${text}${account}\n`, 'it follows the last line'],
      ['not UTF-8', latin1, `${line}it is not UTF-8`],
      ['unknown table', changed('"table":"account"', '"table":"sqlite_master"'), `${line}there is no table "sqlite_`],
      ['wrong order', sealLines([...lines, account]), 'a row of account stands too late'],
      ['unknown column', changed('"name"', '"name; drop"'), `${line}account has no column "name; drop"`],
      ['a column less', changed('"name":"sms",', ''), `${line}account.name is to be a text$`],
      ['text for a number', changed('"domains":0', '"domains":"0"'), `${line}account.domains is to be a whole number$`],
      ['a fraction', changed('"domains":0', '"domains":0.5'), `${line}account.domains is to be a whole number$`],
      ['null', changed('"name":"sms"', '"name":null'), `${line}account.name is to be a text$`],
      ['U+0000', changed('"sms"', '"s\\u0000"'), `${line}account.name is to be a text$`],
      ['half a letter', changed('"sms"', '"\\ud800"'), `${line}account.name is to be a text$`],
      ['neither', sealLines([lines[0] ?? '', '{"a":1}']), 'line 2: it is neither a row nor the end'],
    ]);
  });
});

/** What an account's row has that later migrations added. */
const LATER_COLUMNS = /,"(?:disabled_at|limits|over_since|second_factor)":(?:null|"\{\}")/g;

describeOnBothEngines(
  'an export',
  (newDatabase) => {
    test('an export that the database refuses leaves it unused', async (t) => {
      const { text, lines, at, account, changed, refuse } = await makeFile(t, newDatabase);
      const line = (index: number) => `^Error: line ${index + 1}: the database does not take it: `;
      const orphan = lines.findIndex((other) => other.startsWith('{"table":"sms_app"'));
      await refuse([
        ['a line less', text.replace(`${account}\n`, ''), `${line(orphan - 1)}.*foreign key`],
        ['twice', sealLines(lines.toSpliced(at, 0, account)), `${line(at + 1)}.*unique`],
        ['a kind that is none', changed('"customer"', '"king"'), `${line(at)}.*check`],
        ['no history', sealLines(lines.slice(0, 1)), 'a row of config_head with its revision_tag is missing'],
      ]);
    });

    test('an export of an earlier release is migrated', async (t) => {
      const source = await newDatabase(t);
      await openSmsAccount(await openTestDatabaseFor(t, source), { now: 1 });
      const early = /"table":"(?:account|config_head|revision_tag)"/;
      const [head = '', ...rows] = linesOf(await exportText(source));
      const old = sealLines([
        head.replace(/"step":"[^"]*"/, '"step":"0002-cache-tasks"'),
        ...rows.filter((row) => early.test(row)).map((row) => row.replace(LATER_COLUMNS, '')),
      ]);
      const copy = await newDatabase(t);
      await importText(copy, old);
      assert.match(await exportText(copy), /"table":"account".*"name":"sms"/);
      await using db = await openTestDatabase(copy);
      const { rows: connectors } = await sql`select 1 from sms_connector`.execute(db.query);
      assert.equal(connectors.length, 1);
    });
  },
  EMPTY,
);

describe('a database of another release', () => {
  test('a database of another release is not exported by this one', async (t) => {
    const target = await emptySqlite(t);
    await using db = await openTestDatabase(target);
    await sql`insert into kysely_migration values ('9999-later', '2030-01-01T00:00:00Z')`.execute(db.query);
    await assert.rejects(exportText(target), /the database is at 9999-later, and this release at 0/);
  });
});

const SQLITE_REFERENCES = sql<{ name: string; refers_to: string }>`
  select t.name as name, f."table" as refers_to from sqlite_schema t, pragma_foreign_key_list(t.name) f`;

const POSTGRES_REFERENCES = sql<{ name: string; refers_to: string }>`
  select conrelid::regclass::text as name, confrelid::regclass::text as refers_to from pg_constraint where contype = 'f'`;

/** Id of the domain that was added last and removed for good. */
const GONE_ID = 3;

async function makeContent(t: TestContext, newDatabase: NewDatabase) {
  const target = await newDatabase(t);
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const logs = { ring, blobs: localBlobStore(temporaryFolder(t)), hours: 24 };
  const { api, me, mine } = await startWithCustomers(t, async () => target, { logs });
  api.now = Date.now();
  const pair = createAuthority(t).issue(['*.example.com']);
  const { ssl_key } = dataOf(
    await mine('certificate.add', { ssl_title: '标题', private_key: pair.key, certificate: pair.cert }),
  );
  const id = await add(mine, 'www.example.com', { remark: 'a "remark"\n\u2028 – 中文 😀' });
  await mine('config.setSsl', { domain_id: id, ssl_control: 1, ssl_key });
  await mine('domain.delete', { domain_id: await add(mine, 'gone.example.com') });
  await mine('cache.purge', { urls: ['http://www.example.com/a'] });
  await mine('cache.prefetch', { urls: ['http://www.example.com/b'] });
  await api.acknowledge('edge-1');
  const { db } = api;
  await sql`insert into domain (account_id, name, type, icp_number, remark, state, created_at, setting_revision, settings)
    values (1, 'for.good', '', '', '', '', 1, 0, '{}')`.execute(db.query);
  await sql`delete from domain where name = 'for.good'`.execute(db.query);
  const traffic = createTestTraffic(t, db);
  await traffic.addLines(Number(id), api.now, ['a line']);
  await traffic.addCounts(Number(id), api.now, { requests: 2 ** 40 });
  await traffic.addTop(Number(id), api.now, 'url', '/a', 3);
  await addLiveStreams(db, ring, Number(id), api.now);
  const account = await openSmsAccount(db, { settings: { resendUncertain: true }, now: api.now });
  const webhook = { url: 'https://hook.example.com/', secret: WEBHOOK_SECRET };
  await db.transaction((trx) => saveWebhook(trx, ring, account.appId, webhook));
  await queueMessage(db, account, { texts: ['one', 'two'], now: api.now });
  await db.transaction((trx) =>
    saveConnector(
      trx,
      ring,
      {
        name: 'carrier',
        enabled: true,
        settings: { ...SMPP_DEFAULTS, kind: 'smpp', host: 'h', port: 1, systemId: 's', password: PASSWORD },
      },
      api.now,
    ),
  );
  return { target, pair, ring, token: me.accessToken };
}

async function addLiveStreams(db: Db, ring: Keyring, domainId: number, now: number): Promise<void> {
  const name = { domainId, app: 'live', stream: 'news', broadcast: 'b1' };
  const report = { edge: 'edge-1', epoch: 'e', events: [began(1, name, now)], streams: [onAir(name, now)] };
  await db.transaction((trx) => recordLiveReport(trx, report, now));
  await db.transaction(async (trx) => {
    const marked = await forbidStream(trx, name, 0, now);
    assert.ok(marked.kind === 'changes');
    const keys = await saveLiveKeys(trx, ring, { domainId, keys: { publish: [LIVE_KEY], play: [] }, now });
    await publish(trx, [...marked.changes, keys], now);
  });
}

/** A small export, one line of which is an account; `changed` has that line changed, and an end that fits. */
async function makeFile(t: TestContext, newDatabase: NewDatabase) {
  const source = await newDatabase(t);
  await openSmsAccount(await openTestDatabaseFor(t, source), { now: 1 });
  const text = await exportText(source);
  const lines = linesOf(text);
  const at = lines.findIndex((line) => line.startsWith('{"table":"account"'));
  const account = lines[at] ?? '';
  const target = await newDatabase(t);
  return {
    text,
    lines,
    at,
    account,
    changed: (was: string, is: string) => sealLines(lines.with(at, account.replace(was, is))),
    async refuse(cases: readonly (readonly [name: string, text: string | Uint8Array, message: string])[]) {
      for (const [name, given, message] of cases)
        await assert.rejects(importText(target, given), new RegExp(message, 'i'), name);
      await assertUnused(target);
    },
  };
}

async function openTestDatabaseFor(t: Cleanup, target: DatabaseTarget) {
  const db = await openTestDatabase(target);
  t.after(() => db[Symbol.asyncDispose]());
  return db;
}

async function assertUnused(target: DatabaseTarget): Promise<void> {
  await using db = await openTestDatabase(target);
  for (const name of TABLE_NAMES) {
    const { rows } = await sql`select 1 from ${sql.table(name)}`.execute(db.query);
    assert.equal(rows.length, SEEDS[name], name);
  }
}
