/** Certificates on both engines: each once per account, sealed, published while a domain has them, never deleted under one. */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Db } from '#db/open.ts';
import { openKeyring, rotateKeyring } from '#db/rotation/sealed-secrets.ts';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { sealedWith, unseal } from '#db/secrets/sealing.ts';
import { createAccount } from '#db/tables/accounts.ts';
import {
  addCertificate,
  deleteCertificate,
  findCertificate,
  findCertificatesFor,
  listCertificates,
  privateKeyLocation,
  setCertificateUse,
} from '#db/tables/certificates.ts';
import { findDomainToChange, insertDomain } from '#db/tables/domains.ts';
import { publish } from '#db/tables/resources.ts';
import { listConnectors, openSettings, saveConnector } from '#db/tables/sms/connectors.ts';
import { findWebhook, saveWebhook } from '#db/tables/sms/deliveries.ts';
import { parseChain } from '#model/certificate.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { parsePrivateKey } from '#model/private-key.ts';
import { SMPP_DEFAULTS } from '#model/sms-connector.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

const MAX = 3;

describeOnBothEngines('certificates in the database', (newDatabase) => {
  test('an account has each certificate once, and a limited number of them', needs('openssl'), async (t) => {
    const { db, ring, accountId, other, pairs, add } = await start(t, await newDatabase(t), 4);
    const [one, two, three, four] = pairs;
    const keys = await Promise.all([one, two, one, three, one].map((pair) => add(pair)));
    assert.equal(new Set(keys).size, 3);
    assert.equal(keys[0], keys[2]);
    assert.equal(await add(four), undefined);
    assert.equal(await add(one), keys[0]);
    assert.notEqual(await add(one, other), keys[0]);
    const listed = await listCertificates(db.query, { accountId, domainIds: undefined });
    assert.deepEqual(new Set(listed.map(({ key }) => key)), new Set(keys));
    assert.ok(listed.every(({ uses, title }) => uses === 0 && title === 'a title'));
    const [key = ''] = keys;
    assert.equal(await findCertificate(db.query, { accountId: other, key }), undefined);
    assert.deepEqual(await db.transaction((trx) => deleteCertificate(trx, { accountId: other, key })), {
      kind: 'missing',
    });
    const row = await db.query.selectFrom('certificate').selectAll().where('key', '=', key).executeTakeFirstOrThrow();
    assert.match(row.private_key, /^v1\./);
    assert.equal(unseal(ring, privateKeyLocation(key), row.private_key).toString(), one?.key);
    assert.throws(
      () => unseal(ring, privateKeyLocation(keys[1] ?? ''), row.private_key),
      /moved there from another row/,
    );
  });

  test(
    'a certificate is published while a domain has it, and cannot be deleted meanwhile',
    needs('openssl'),
    async (t) => {
      const { db, accountId, pairs, add, addDomain } = await start(t, await newDatabase(t), 2);
      const [one = '', two = ''] = await Promise.all(pairs.map((pair) => add(pair)));
      const [a, b] = [await addDomain('a.example.com'), await addDomain('b.example.com')];
      const use = async (domain: number, ...keys: readonly string[]) => {
        const changes = await db.transaction((trx) => setCertificateUse(trx, domain, keys));
        return changes.map((change) => `${change.op} ${change.key}`);
      };
      const remove = (key: string) => db.transaction((trx) => deleteCertificate(trx, { accountId, key }));
      assert.deepEqual(await use(a, one), [`put ${one}`]);
      assert.deepEqual(await use(a, one), []);
      // Another group of edges may serve the other domain. docs/decisions/0592
      assert.deepEqual(await use(b, one), [`put ${one}`]);
      assert.deepEqual(await remove(one), { kind: 'inUse', domains: ['a.example.com', 'b.example.com'] });
      assert.deepEqual(await use(a, one, two), [`put ${two}`]);
      assert.deepEqual(await remove(two), { kind: 'inUse', domains: ['a.example.com'] });
      assert.deepEqual(await use(a, two), [`put ${one}`]);
      assert.deepEqual(await use(b, two), [`put ${two}`, `delete ${one}`]);
      assert.deepEqual(await remove(one), { kind: 'deleted' });
      assert.deepEqual(await remove(one), { kind: 'missing' });
      assert.deepEqual(await use(a), [`put ${two}`]);
      assert.deepEqual(await use(b), [`delete ${two}`]);
      assert.deepEqual(await use(b), []);
    },
  );

  test(
    'one of a concurrent binding and deletion wins, and the published certificates fit',
    needs('openssl'),
    async (t) => {
      const { db, accountId, pairs, add, addDomain } = await start(t, await newDatabase(t), 2);
      const domains = await Promise.all(['a', 'b', 'c', 'd'].map((name) => addDomain(`${name}.example.com`)));
      for (let round = 0; round < 10; round += 1) {
        const [one = '', two = ''] = await Promise.all(pairs.map((pair) => add(pair)));
        const bind = (domain: number, ...keys: readonly string[]) =>
          db.transaction(async (trx) => {
            await findDomainToChange(trx, { id: domain });
            const found = await findCertificatesFor(trx, domain, accountId, keys);
            const changes = await setCertificateUse(
              trx,
              domain,
              found.flatMap((one) => one?.key ?? []),
            );
            if (changes.length > 0) await publish(trx, changes, 1);
          });
        const remove = (key: string) => db.transaction((trx) => deleteCertificate(trx, { accountId, key }));
        await Promise.all([
          ...domains.map((domain, index) => bind(domain, (index + round) % 2 === 0 ? one : two)),
          remove(one),
          remove(two),
          ...domains.map((domain, index) => bind(domain, ...((index + round) % 3 === 0 ? [two, one] : [one, two]))),
        ]);
        await assertPublishedFits(db);
      }
    },
  );

  test('rotating the key ring seals the same secrets anew, and edges notice nothing', needs('openssl'), async (t) => {
    const { db, ring, ringFile, accountId, pairs, add, addDomain } = await start(t, await newDatabase(t), 2);
    const keys = await Promise.all(pairs.map((pair) => add(pair)));
    const [one = '', two = ''] = keys;
    const domain = await addDomain('a.example.com');
    await db.transaction(async (trx) => publish(trx, await setCertificateUse(trx, domain, [one]), 1));
    const settings = {
      ...SMPP_DEFAULTS,
      kind: 'smpp',
      host: 'h',
      port: 1,
      systemId: 's',
      password: 'the password',
    } as const;
    await db.transaction((trx) => saveConnector(trx, ring, { name: 'c', enabled: true, settings }, 1));
    const app = await db.query
      .insertInto('sms_app')
      .values({ account_id: accountId, app_key: 'k', name: 'n', enabled: 1, created_at: 1, settings: '{"a":1}' })
      .returning('id')
      .executeTakeFirstOrThrow();
    const webhook = { url: 'https://a.example', secret: 'the secret' };
    await db.transaction((trx) => saveWebhook(trx, ring, app.id, webhook));
    const other = await openKeyring(db.query, ringFile);
    const readBody = async () => {
      const row = await db.query
        .selectFrom('resource')
        .select(['body', 'revision'])
        .where('key', '=', one)
        .executeTakeFirstOrThrow();
      return { revision: row.revision, sealed: String(JSON.parse(row.body).key) };
    };
    const before = await readBody();
    await db.query.updateTable('certificate').set({ private_key: before.sealed }).where('key', '=', two).execute();

    const rotation = await rotateKeyring(db, ring);
    assert.deepEqual(rotation, { keyId: ring.newest.id, secrets: 3, unopened: 1 });
    const after = await readBody();
    assert.equal(after.revision, before.revision);
    const { private_key } = await db.query
      .selectFrom('certificate')
      .select('private_key')
      .where('key', '=', one)
      .executeTakeFirstOrThrow();
    for (const sealed of [after.sealed, private_key]) {
      assert.equal(sealedWith(sealed), rotation.keyId);
      assert.equal(unseal(other, privateKeyLocation(one), sealed).toString(), pairs[0]?.key);
    }
    const connector = (await listConnectors(db.query)).find(({ name }) => name === 'c');
    assert.ok(connector !== undefined);
    assert.equal(sealedWith(connector.secret ?? ''), rotation.keyId);
    assert.deepEqual(openSettings(other, connector), settings);
    assert.deepEqual(await findWebhook(db.query, other, app.id), webhook);
    const lacking = readFileSync(ringFile, 'utf8').split('\n').slice(0, 2).join('\n');
    writeFileSync(ringFile, `${lacking}\n`);
    await assert.rejects(openKeyring(db.query, ringFile), new RegExp(`lacks keys .*\\(${rotation.keyId}\\)`));
  });
});

/** What is in the feed is what domains have. */
async function assertPublishedFits(db: Db): Promise<void> {
  const uses = await db.query.selectFrom('certificate_use').select('certificate_key').distinct().execute();
  const published = await db.query
    .selectFrom('resource')
    .select('key')
    .where('kind', '=', 'certificate')
    .where('deleted', '=', 0)
    .execute();
  assert.deepEqual(published.map(({ key }) => key).sort(), uses.map(({ certificate_key }) => certificate_key).sort());
}

async function start(
  t: Parameters<typeof createAuthority>[0],
  target: Parameters<typeof openTestDatabase>[0],
  certificates: number,
) {
  const db = await openTestDatabase(target);
  t.after(() => db[Symbol.asyncDispose]());
  const ringFile = join(temporaryFolder(t), 'keyring');
  const ring = loadOrMakeKeyring(ringFile);
  const { id: accountId } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 1 });
  const { id: other } = await createAccount(db.query, { name: 'b', kind: 'customer', now: 1 });
  const authority = createAuthority(t);
  const pairs = Array.from({ length: certificates }, () => authority.issue(['a.example.com']));
  const add = (pair: (typeof pairs)[number] | undefined, account = accountId) => {
    assert.ok(pair !== undefined);
    const parsed = parsePrivateKey(pair.key);
    assert.ok(parsed.kind === 'key');
    const chain = parseChain(pair.cert, parsed.key, Date.now());
    assert.ok(chain.kind === 'chain');
    const certificate = { accountId: account, title: 'a title', chain: chain.chain, privateKey: parsed.key, now: 1 };
    return db.transaction((trx) => addCertificate(trx, ring, certificate, MAX));
  };
  const addDomain = async (name: string) => {
    const domain = { accountId, name, icpNumber: '', remark: '', createdAt: 1, settings: DEFAULT_SETTINGS };
    return (await insertDomain(db.query, { ...domain, type: 'static', state: 'open' })).id;
  };
  return { db, ring, ringFile, accountId, other, pairs, add, addDomain };
}
