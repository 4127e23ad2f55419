/** Certificates from Pebble: issued, renewed, refused, and completed by another worker after a process was killed. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import type { HttpAnswer } from '#acme/https.ts';
import { addDomain } from '#api/settings/change.ts';
import type { Db } from '#db/open.ts';
import { askForCertificate } from '#db/tables/certificate-orders.ts';
import { listCertificates } from '#db/tables/certificates.ts';
import { markDomainDeleted } from '#db/tables/domains.ts';
import { createLogger } from '#lib/logger.ts';
import { MAX_ORDERS_PER_DAY, NEVER_AT } from '#model/certificate-order.ts';
import { warnOfStoppedRenewals } from '../../src/roles/control/acme.ts';
import { NAME, startAcmeWorld } from '../support/certificates/acme.ts';
import { describeOnBothEngines, newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

/** Orders that a start tells of whose settings name no authority any more. */
async function warningsWithoutAuthority(db: Db): Promise<readonly unknown[]> {
  const told: unknown[] = [];
  const destination = { write: (line: string) => void told.push(JSON.parse(line).orders) };
  await warnOfStoppedRenewals(db, createLogger({ level: 'warn', name: 'test', destination }));
  return told;
}

const HOUR_MS = 3_600_000;

const BOUND = needs('pebble', 'openssl', { timeout: 180_000 });

describeOnBothEngines('certificates that are obtained', (newDatabase) => {
  test("an order proceeds from the challenge to the domain's certificate, and is renewed in time", BOUND, async (t) => {
    const world = await startAcmeWorld(t, newDatabase, { nonceReject: 50 });
    assert.deepEqual(await warningsWithoutAuthority(world.db), []);
    assert.equal(await world.request(), 'asked');
    assert.equal(await world.request(), 'underWay');
    const first = await world.run();
    assert.equal(first.state, 'issued', JSON.stringify(first));
    const domain = await world.readDomain();
    assert.deepEqual([domain?.settings.sslControl, domain?.settings.sslKey], [true, first.sslKey]);
    assert.equal((await world.resources('challenge')).size, 0);
    const [pair] = (await world.resources('certificate')).values() as Iterable<{ certificate: string }>;
    const leaf = new X509Certificate(pair?.certificate ?? '');
    assert.equal(leaf.subjectAltName, `DNS:${NAME}`);
    const [line] = world.edge.log;
    assert.deepEqual([line?.method, line?.protocol, line?.result], ['GET', 'HTTP/1.1', 'NONE/200']);
    assert.match(line?.target ?? '', /^\/\.well-known\/acme-challenge\/[\w-]+$/);

    const lifetime = leaf.validToDate.getTime() - leaf.validFromDate.getTime();
    const expected = leaf.validToDate.getTime() - lifetime * (1 / 3 + 1 / 60);
    assert.ok(Math.abs(first.dueAt - expected) <= 1, 'a third of the lifetime, and half of the jitter');
    const asked = world.asked.length;
    world.now = first.dueAt - 1;
    await world.round();
    assert.equal(world.asked.length, asked, 'not before it is due');
    world.now = first.dueAt;
    await world.round();
    // Pebble lets the authorization of before count now and then: then there is no challenge.
    assert.match((await world.order())?.state ?? '', /^(challenged|pending)$/);
    assert.equal((await world.readDomain())?.settings.sslKey, first.sslKey, 'the one before serves meanwhile');
    const second = await world.run();
    assert.notEqual(second.sslKey, first.sslKey);
    const renewed = await world.readDomain();
    assert.equal(renewed?.settings.sslKey, second.sslKey);
    assert.equal(renewed?.settingRevision, domain?.settingRevision, 'no setting was changed');
    const kept = await listCertificates(world.db.query, { accountId: world.accountId, domainIds: undefined });
    assert.deepEqual(
      kept.map(({ key, uses }) => [key, uses]),
      [[second.sslKey, 1]],
    );
    assert.deepEqual([...(await world.resources('certificate')).keys()], [second.sslKey]);
    assert.deepEqual(await warningsWithoutAuthority(world.db), [1]);
  });

  test('the authority is asked to validate only when every live edge answers', BOUND, async (t) => {
    const world = await startAcmeWorld(t, newDatabase);
    await world.request();
    await world.applyFeed();
    for (let rounds = 0; rounds < 3; rounds += 1) {
      await world.round();
      world.now += 1_000;
    }
    assert.deepEqual(
      [(await world.order())?.state, world.asked.filter((what) => what === 'POST chalZ').length, world.edge.log.length],
      ['challenged', 0, 0],
    );
    world.now += 3_600_000;
    await world.applyFeed();
    world.now += 31_000; // the edge is gone now
    await world.round();
    const { state, problem } = (await world.order()) ?? {};
    assert.deepEqual([state, problem], ['failed', 'edges']);
    assert.equal((await world.resources('challenge')).size, 0);
  });

  test('an order whose step the database did not store is tried again within seconds', BOUND, async (t) => {
    const world = await startAcmeWorld(t, newDatabase, { nonceReject: 0 });
    const work = await world.newWorker();
    const rename = (from: string, to: string) => world.db.query.schema.alterTable(from).renameTo(to).execute();
    await world.request();
    world.after = async (question) => {
      if (question === 'POST order-plz') await rename('certificate_order', 'away');
    };
    await assert.rejects(work(), /certificate_order/);
    await assert.rejects(work(), /certificate_order/, 'nor can it be given back');
    world.after = async () => undefined;
    await rename('away', 'certificate_order');
    await work();
    assert.equal((await world.order())?.url, '');
    world.now += 2_000;
    await work();
    assert.notEqual((await world.order())?.url, '', 'and it goes on');
  });

  test('an order whose worker is killed at any request is completed by the next one, once', BOUND, async (t) => {
    const world = await startAcmeWorld(t, newDatabase, { nonceReject: 0 });
    await world.request();
    // Each request is tried three times: the first is cut before it leaves, and the answer of the second is lost.
    const tries = new Map<string, number>();
    let kills = 0;
    const killAt = (wanted: number) => async (question: string) => {
      const turn = (tries.get(question) ?? 0) + (wanted === 1 ? 1 : 0);
      if (wanted === 1) tries.set(question, turn);
      if (turn !== wanted) return;
      kills += 1;
      await world.kill();
    };
    world.before = killAt(1);
    world.after = killAt(2);
    const order = await world.run();
    assert.equal(order.state, 'issued', JSON.stringify(order));
    assert.ok(kills >= 16, `${kills}: ${[...tries.keys()].join(', ')}`);
    assert.equal(
      (await listCertificates(world.db.query, { accountId: world.accountId, domainIds: undefined })).length,
      1,
    );
    assert.equal(world.pebble.log().match(/Issued certificate/g)?.length, 1, 'one certificate was issued');
    assert.equal((await world.resources('challenge')).size, 0);
  });
});

test(
  "a name that does not lead here fails with the authority's reason, and is tried again later and later",
  BOUND,
  async (t) => {
    const world = await startAcmeWorld(t, newSqlite, { names: [] });
    await world.request();
    const failed = await world.run();
    assert.deepEqual([failed.state, failed.problem, failed.failures], ['failed', 'validation', 1]);
    assert.match(failed.detail, /www\.example\.com|DNS|lookup/i);
    assert.equal((await world.resources('challenge')).size, 0);
    assert.equal(failed.dueAt - world.now, 2_700_000, 'three quarters of an hour');
    for (let tries = 2; tries <= MAX_ORDERS_PER_DAY; tries += 1) {
      assert.equal(await world.request(), 'asked');
      assert.equal((await world.run()).state, 'failed');
    }
    assert.equal(await world.request(), 'limited');
    world.now = ((await world.order())?.dueAt ?? 0) + 1;
    const asked = world.asked.length;
    await world.round();
    assert.equal(world.asked.length, asked, 'nor does it try by itself before the day is over');
    world.now += 24 * 3_600_000;
    assert.equal(await world.request(), 'asked');
  },
);

test('an account begins 25 orders an hour, whatever it asks for', BOUND, async (t) => {
  const world = await startAcmeWorld(t, newSqlite);
  const { db, domain } = world;
  for (let n = 0; n < 25; n += 1) {
    const { id } = await addDomain(db, { ...domain, name: `d${n}.example.com` }, 100, world.now);
    await db.transaction((trx) => askForCertificate(trx, { domainId: id, sslKey: '', now: world.now }));
    const begun = { ordered_at: world.now, due_at: NEVER_AT };
    await db.query.updateTable('certificate_order').set(begun).where('domain_id', '=', id).execute();
  }
  await world.request();
  await world.round();
  assert.equal(world.asked.length, 0);
  const { state, problem, detail, dueAt } = (await world.order()) ?? {};
  assert.deepEqual([state, problem, dueAt], ['pending', 'limited', world.now + 300_000]);
  assert.equal(detail, 'an account begins at most 25 orders an hour');
  world.now += 3_600_000;
  await world.round();
  assert.ok(world.asked.includes('POST order-plz'));
  assert.equal((await world.order())?.problem, undefined);
});

test('a renewal that fails is tried again the sooner, the less of the certificate is left', BOUND, async (t) => {
  const world = await startAcmeWorld(t, newSqlite, { nonceReject: 0 });
  await world.request();
  const { sslKey, dueAt: renewAt } = await world.run();
  const [certificate] = await listCertificates(world.db.query, { accountId: world.accountId, domainIds: undefined });
  const validTo = renewAt + 6 * HOUR_MS;
  assert.equal(certificate?.key, sslKey);
  await world.db.query.updateTable('certificate').set({ valid_to: validTo }).execute();
  const header = (name: string) => (name === 'retry-after' ? new Date(validTo + 86_400_000).toUTCString() : undefined);
  const answer = { status: 429, header, body: '{"type":"urn:ietf:params:acme:error:rateLimited"}' };
  world.instead = (what) => (what === 'POST order-plz' ? answer : undefined);
  let tries = 0;
  for (world.now = renewAt; world.now < validTo; world.now = (await world.order())?.dueAt ?? validTo) {
    await world.round();
    tries += 1;
    assert.deepEqual([(await world.order())?.state, (await world.order())?.problem], ['failed', 'limited']);
  }
  assert.ok(tries >= 4 && tries <= 12, String(tries));
  assert.ok(world.now - validTo <= HOUR_MS);
});

test('an order ends when its domain is deleted, or given another certificate', BOUND, async (t) => {
  const world = await startAcmeWorld(t, newSqlite);
  await world.request();
  await world.round();
  assert.equal((await world.resources('challenge')).size, 1);
  await markDomainDeleted(world.db.query, world.domain.id, world.now);
  world.now += 1_000;
  await world.round();
  const { problem, challenge, dueAt } = (await world.order()) ?? {};
  assert.deepEqual([problem, challenge, dueAt], ['replaced', undefined, NEVER_AT]);
  assert.equal((await world.resources('challenge')).size, 0);
});

test(
  'a refusal of the authority is reported with its reason; a rate limit holds for as long as it says',
  BOUND,
  async (t) => {
    const world = await startAcmeWorld(t, newSqlite, { nonceReject: 0 }); // a request is counted below
    const refuse = (status: number, type: string, fields: Readonly<Record<string, string>> = {}): HttpAnswer => ({
      status,
      header: (name) => fields[name],
      body: JSON.stringify({
        type: `urn:ietf:params:acme:error:${type}`,
        detail: `a\nreason\u0007 ${'x'.repeat(999)}`,
      }),
    });
    const only = (wanted: string, answer: HttpAnswer) => (what: string) => (what === wanted ? answer : undefined);
    const fail = async (answer: HttpAnswer) => {
      world.instead = only('POST order-plz', answer);
      await world.request();
      await world.round();
      const { state, problem, detail = '', dueAt = 0 } = (await world.order()) ?? {};
      assert.match(detail, /^a reason x{200,}$/);
      assert.ok(detail.length <= 300);
      return { state, problem, afterMs: dueAt - world.now };
    };
    const limited = { state: 'failed', problem: 'limited', afterMs: 7_200_000 };
    assert.deepEqual(await fail(refuse(429, 'rateLimited', { 'retry-after': '7200' })), limited);
    const refused = { state: 'failed', problem: 'refused', afterMs: 2_700_000 };
    assert.deepEqual(await fail(refuse(400, 'rejectedIdentifier')), refused);
    const busy = await fail(refuse(503, 'serverInternal', { 'retry-after': '7200' }));
    assert.deepEqual([busy.problem, busy.afterMs], ['unreachable', 7_200_000]);
    world.now += 7_200_000;
    for (let tries = 0; tries < 10; tries += 1) {
      const away = await fail(refuse(503, 'serverInternal'));
      assert.deepEqual([away.state, away.problem], ['pending', 'unreachable'], 'and uses up no try of the day');
      assert.ok(away.afterMs >= 2_500 && away.afterMs <= 300_000);
      world.now += away.afterMs;
    }
    world.instead = (what) => {
      if (what !== 'POST order-plz') return undefined;
      world.instead = () => undefined;
      return refuse(400, 'accountDoesNotExist');
    };
    assert.equal((await world.run()).state, 'issued', 'an account that the authority has lost is registered anew');
    const countAccounts = () => world.asked.filter((what) => what === 'POST sign-me-up').length;
    assert.equal(countAccounts(), 2);
    world.account = '#2'; // the first was deactivated, and is used no more
    world.now = (await world.order())?.dueAt ?? 0;
    assert.equal((await world.run()).state, 'issued');
    assert.equal(countAccounts(), 3);
  },
);

test('an authority that is unreachable is asked again, and its certificate is fetched then', BOUND, async (t) => {
  const world = await startAcmeWorld(t, newSqlite);
  world.before = () => Promise.reject(new Error('connection refused'));
  await world.request();
  await world.round();
  const held = await world.order();
  assert.deepEqual([held?.state, held?.problem, held?.failures], ['pending', 'unreachable', 0]);
  assert.ok((held?.dueAt ?? 0) > world.now);
  world.before = async () => undefined;
  world.instead = () => ({ status: 302, header: () => 'https://127.0.0.1/', body: '' });
  world.now += 600_000;
  await world.round();
  assert.match((await world.order())?.detail ?? '', /^https:\/\/\S+: it answered 302, and is not followed$/);
  world.instead = () => undefined;
  world.now += 600_000;
  await world.round();
  assert.deepEqual([(await world.order())?.state, (await world.order())?.problem], ['challenged', undefined]);
  assert.equal((await world.run()).state, 'issued');
  assert.equal(world.logLines.join('').includes('BEGIN'), false);
});
