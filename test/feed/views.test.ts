/** Views: an edge on another machine gets what its group serves, and nothing of other groups. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { orderPrefetch, orderPurge } from '#api/settings/cache-orders.ts';
import { changeDomain } from '#api/settings/change.ts';
import { setDomainGroups, setGroup } from '#api/settings/edge-groups.ts';
import { saveAddressList } from '#db/tables/address-lists.ts';
import { findEdgeView, listLiveEdges } from '#db/tables/edges.ts';
import { setSuspect } from '#db/tables/fleet/enrolled-edges.ts';
import { publish, readConfigHead } from '#db/tables/resources.ts';
import { endViewKey, openViewKeys } from '#db/tables/view-keys.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import type { EdgeStore } from '#feed/store/edge-store.ts';
import { VIEW_KEYS_PATH } from '#feed/wire/protocol.ts';
import { openUnder } from '#feed/wire/view-key-box.ts';
import { systemClock } from '#lib/clock.ts';
import { addressListKey } from '#model/address-list.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { publishNow, startTestEdge } from '../support/feed/feed.ts';
import { linkTo, makeCredentials } from '../support/feed/fleet-feed.ts';
import { type FleetWorld, startFleetWorld } from '../support/feed/fleet-world.ts';
import { secureDomain, useCertificate } from '../support/feed/secure-domain.ts';
import { needs } from '../support/runner/needs.ts';

const LIMITS = { purgeUrls: 100, purgeDirectories: 100, prefetchUrls: 100 };

describeOnBothEngines('views', (newDatabase) => {
  test('an edge has the domains of its group, from its first snapshot on', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    const own = await w.addDomain('a.example.com');
    const foreign = await w.addDomain('foreign.example.com');
    const ownKey = await secureDomain(w, own.id, 'a.example.com');
    const key = await secureDomain(w, foreign.id, 'foreign.example.com');
    await setDomainGroups(
      w.db,
      { accountId: w.accountId, domainIds: undefined, domainId: own.id },
      ['eu', 'default'],
      1,
    );
    await using edge = startEdge(w, [control.address], 'fra1', 'eu');
    await caughtUp(w, 'fra1');
    assert.deepEqual(names(edge.store), ['a.example.com']);

    const order = {
      accountId: w.accountId,
      domainIds: undefined,
      now: systemClock(),
      today: '2026-01-31',
      limits: LIMITS,
    };
    await orderPurge(w.db, order, { kind: 'domain', domainId: foreign.id });
    await orderPurge(w.db, order, { kind: 'domain', domainId: own.id });
    const url = { host: 'foreign.example.com', target: '/x', keyTarget: '/x', scheme: 'http', asked: 'x', kind: 'url' };
    await orderPrefetch(w.db, order, [{ ...url, field: 'urls' }] as Parameters<typeof orderPrefetch>[2]);
    await publishNow(w.db, {
      kind: 'challenge',
      key: `foreign.example.com/${'t'.repeat(30)}`,
      op: 'put',
      body: { keyAuthorization: 'a.b' },
    });
    await publishNow(w.db, {
      kind: 'edge_place',
      key: 'fra2',
      op: 'put',
      body: { addresses: ['198.51.100.77'], port: 80, weight: 100 },
    });
    await changeDomain(w.db, { accountId: w.accountId, domainIds: undefined, domainId: foreign.id }, 2, (domain) => ({
      ...domain,
      settings: { ...domain.settings, origins: ['secret-origin.example.net'] },
    }));
    await caughtUp(w, 'fra1');
    assert.deepEqual(edge.store.purgesOf(own.id).length, 1);
    assert.deepEqual(edge.store.purgesOf(foreign.id), []);
    assert.equal(edge.store.getCertificate(key), undefined);
    // Its files, and the file of the snapshot that it got: nothing of another group's sites and certificates.
    const inFolder = (folder: string, start: string) =>
      readdirSync(folder).flatMap((name) => (name.startsWith(start) ? [join(folder, name)] : []));
    const snapshots = inFolder(join(w.folder, 'snapshots-1'), 'eu-').map((file) =>
      zstdDecompressSync(readFileSync(file)),
    );
    const files = [...inFolder(w.folder, 'fra1').map((file) => readFileSync(file)), ...snapshots];
    const contains = (text: string) => files.filter((bytes) => bytes.includes(text)).length;
    for (const text of [
      'foreign.example',
      'secret-origin',
      '198.51.100.77',
      'serving',
      key,
      ...(await linesOf(w, key)),
    ])
      assert.equal(contains(text), 0, text);
    assert.deepEqual([snapshots.length, contains('a.example.com') >= 2], [1, true]);
    for (const line of await linesOf(w, ownKey)) assert.ok(contains(line) > 0, 'what it may have is found');
  });

  test(
    'edges of a parent have the domains of the groups below it, for as long as it is one',
    needs('openssl'),
    async (t) => {
      await using w = await startFleetWorld(t, await newDatabase(t));
      await using control = await w.startControl();
      for (const name of ['core', 'eu']) await setGroup(w.db, { name, isDefault: false }, 1);
      const own = await w.addDomain('a.example.com');
      await w.addDomain('foreign.example.com');
      const key = { accountId: w.accountId, domainIds: undefined, domainId: own.id };
      await setDomainGroups(w.db, key, ['eu'], 1);
      await using edge = startEdge(w, [control.address], 'par1', 'core');
      await caughtUp(w, 'par1');
      const seen = async () => {
        await caughtUp(w, 'par1');
        return names(edge.store);
      };
      assert.deepEqual(await seen(), []);
      await setGroup(w.db, { name: 'eu', isDefault: false, parent: 'core' }, systemClock());
      await eventually('it takes a snapshot', async () => (await seen()).length > 0);
      assert.deepEqual(await seen(), ['a.example.com']);
      await setDomainGroups(w.db, key, ['default'], systemClock());
      assert.deepEqual(await seen(), []);
      await setDomainGroups(w.db, key, ['eu'], systemClock());
      assert.deepEqual(await seen(), ['a.example.com']);
      await setGroup(w.db, { name: 'eu', isDefault: false, parent: '' }, systemClock());
      await eventually('it takes a snapshot', async () => (await seen()).length === 0);
    },
  );

  test('a domain that joins a group is put, and one that leaves is deleted', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    await using edge = startEdge(w, [control.address], 'fra1', 'eu');
    await using other = startEdge(w, [control.address], 'sin1', 'default');
    const domain = await w.addDomain('a.example.com');
    const shared = await secureDomain(w, domain.id, 'a.example.com');
    const key = { accountId: w.accountId, domainIds: undefined, domainId: domain.id };
    const order = {
      accountId: w.accountId,
      domainIds: undefined,
      now: systemClock(),
      today: '2026-01-31',
      limits: LIMITS,
    };
    await orderPurge(w.db, order, { kind: 'domain', domainId: domain.id });
    const table: readonly (readonly [groups: readonly string[], atEdge: boolean, atOther: boolean])[] = [
      [[], false, true],
      [['eu'], true, false],
      [['eu', 'default'], true, true],
      [['default'], false, true],
      [['eu'], true, false],
      [[], false, true],
    ];
    await caughtUp(w, 'fra1', 'sin1');
    const snapshots = control.snapshots;
    for (const [groups, atEdge, atOther] of table) {
      await setDomainGroups(w.db, key, groups, systemClock());
      await caughtUp(w, 'fra1', 'sin1');
      for (const [store, isThere] of [
        [edge.store, atEdge],
        [other.store, atOther],
      ] as const) {
        assert.deepEqual(names(store), isThere ? ['a.example.com'] : [], groups.join());
        assert.equal(store.purgesOf(domain.id).length, isThere ? 1 : 0, groups.join());
        assert.equal(store.getCertificate(shared) !== undefined, isThere, groups.join());
      }
    }
    assert.equal(control.snapshots, snapshots);
  });

  test('a list of addresses is at the edges of the groups whose domains use it', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    await using edge = startEdge(w, [control.address], 'fra1', 'eu');
    await using other = startEdge(w, [control.address], 'sin1', 'default');
    const { accountId } = w;
    const [first, second] = [await w.addDomain('a.example.com'), await w.addDomain('b.example.com')];
    const keyOf = (domainId: number) => ({ accountId, domainIds: undefined, domainId });
    const save = (entries: readonly string[]) =>
      w.db.transaction(async (trx) => {
        const changes = await saveAddressList(trx, { accountId, name: 'bad', entries, changedAt: 1 }, 1);
        await publish(trx, changes ?? [], systemClock());
      });
    const use = (domainId: number, denied: readonly string[]) =>
      changeDomain(w.db, keyOf(domainId), systemClock(), ({ settings, ...domain }) => ({
        ...domain,
        settings: { ...settings, addressLists: { denied, allowed: [] } },
      }));
    const key = addressListKey({ accountId, name: 'bad' });
    const seen = async () => {
      await caughtUp(w, 'fra1', 'sin1');
      return [edge, other].map(({ store }) => store.getAddressList(key));
    };
    await save(['192.0.2.1']);
    assert.deepEqual(await seen(), [undefined, undefined], 'no domain uses it');
    await setDomainGroups(w.db, keyOf(first.id), ['eu'], systemClock());
    await use(first.id, ['bad']);
    assert.deepEqual(await seen(), [['192.0.2.1'], undefined]);
    await use(second.id, ['bad']);
    await save(['192.0.2.2']);
    assert.deepEqual(await seen(), [['192.0.2.2'], ['192.0.2.2']]);
    await setDomainGroups(w.db, keyOf(first.id), [], systemClock());
    assert.deepEqual(await seen(), [undefined, ['192.0.2.2']], 'the group has no domain that uses it');
    await use(first.id, []);
    await use(second.id, []);
    assert.deepEqual(await seen(), [undefined, undefined]);
  });

  test('a certificate goes to a group with the first of its domains that uses it', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    const first = await w.addDomain('a.example.com');
    const second = await w.addDomain('b.example.com');
    await setDomainGroups(w.db, { accountId: w.accountId, domainIds: undefined, domainId: second.id }, ['eu'], 1);
    const shared = await secureDomain(w, first.id, 'a.example.com', 'b.example.com');
    await using edge = startEdge(w, [control.address], 'fra1', 'eu');
    await caughtUp(w, 'fra1');
    assert.equal(edge.store.getCertificate(shared), undefined);
    await useCertificate(w, second.id, shared);
    await caughtUp(w, 'fra1');
    assert.match(edge.store.getCertificate(shared)?.key ?? '', /PRIVATE KEY/);
    await useCertificate(w, second.id, '');
    await caughtUp(w, 'fra1');
    assert.equal(edge.store.getCertificate(shared), undefined);
  });

  test(
    'an edge takes a snapshot when its group changes, or the domains of its group as a whole',
    needs('openssl'),
    async (t) => {
      await using w = await startFleetWorld(t, await newDatabase(t));
      await using control = await w.startControl();
      await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
      await w.addDomain('a.example.com');
      {
        await using edge = startEdge(w, [control.address], 'fra1', 'default');
        await caughtUp(w, 'fra1');
        assert.deepEqual([names(edge.store), edge.store.view()], [['a.example.com'], 'default.1']);
      }
      await using edge = startEdge(w, [control.address], 'fra1', 'eu');
      await eventually('it has the view of its group', () => edge.store.view() === 'eu.1');
      assert.deepEqual([names(edge.store), control.snapshots], [[], 2]);
      await setGroup(w.db, { name: 'eu', isDefault: true }, 2);
      await eventually('it has the new view', () => edge.store.view() === 'eu.2');
      assert.deepEqual([names(edge.store), control.snapshots], [['a.example.com'], 3]);
    },
  );

  test('changes of other groups only move the position, in few deltas', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    await using edge = startEdge(w, [control.address], 'fra1', 'eu');
    await eventually('it follows', () => edge.client.isConnected);
    for (let n = 0; n < 20; n += 1) await w.addDomain(`d${n}.example.com`);
    await caughtUp(w, 'fra1');
    assert.ok(edge.confirms.length < 12, `${edge.confirms.length} deltas`);
    assert.deepEqual(names(edge.store), []);
  });

  test('a secret opens only with the view key of its time', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newDatabase(t));
    await using control = await w.startControl();
    const domain = await w.addDomain('a.example.com');
    await using edge = startEdge(w, [control.address], 'fra1', 'default');
    const first = await secureDomain(w, domain.id, 'a.example.com');
    await caughtUp(w, 'fra1');
    assert.match(edge.store.getCertificate(first)?.key ?? '', /PRIVATE KEY/);
    const ids = (await w.db.query.selectFrom('view_key').select('id').execute()).map(({ id }) => id);
    assert.deepEqual(ids, ['default.1']);
    await w.db.transaction((trx) => endViewKey(trx, 'default', systemClock()));
    const second = await secureDomain(w, domain.id, 'a.example.com');
    await caughtUp(w, 'fra1');
    assert.match(edge.store.getCertificate(second)?.key ?? '', /PRIVATE KEY/);
    const keys = await openViewKeys(w.db.query, w.ring, { group: 'default', ids: ['default.1', 'default.2'] });
    assert.equal(keys.length, 2);
    const [old] = keys;
    const place = { kind: 'certificate', key: second, revision: 1, vk: 'default.2' };
    assert.throws(() => openUnder(old?.key ?? Buffer.alloc(32), place, Buffer.alloc(60).toString('base64')));
    using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
    const ask = (body: string) =>
      requestFeed({ link, path: VIEW_KEYS_PATH, signal: new AbortController().signal, silenceMs: 30_000, body });
    await assert.rejects(ask('{"ids":["eu.1"]}'), { status: 403 });
    await assert.rejects(ask('{"ids":[1]}'), { status: 400, reason: /^ids: expected a text/ });
    (await ask('{"ids":["default.1"]}')).resume();
  });

  test(
    'a suspect edge follows without new secrets and acknowledges nothing, until it is accepted',
    needs('openssl'),
    async (t) => {
      await using w = await startFleetWorld(t, await newDatabase(t));
      await using control = await w.startControl();
      const domain = await w.addDomain('a.example.com');
      await using edge = startEdge(w, [control.address], 'fra1', 'default');
      const former = await secureDomain(w, domain.id, 'a.example.com');
      await caughtUp(w, 'fra1');
      const applied = async () => (await findEdgeView(w.db.query, 'fra1', systemClock()))?.appliedRevision;
      const before = await applied();
      await w.db.transaction(async (trx) => {
        await setSuspect(trx, 'fra1', systemClock());
        await endViewKey(trx, 'default', systemClock());
      });
      const key = await secureDomain(w, domain.id, 'a.example.com');
      await w.addDomain('b.example.com');
      await eventually('it has what comes after the secret', () => edge.store.getSpec('b.example.com') !== undefined);
      assert.deepEqual([edge.store.getCertificate(key), await applied()], [undefined, before]);
      assert.equal(edge.store.getSpec('a.example.com')?.spec.tls?.certificate, former, 'the site serves on');
      assert.match(edge.store.getCertificate(former)?.key ?? '', /PRIVATE KEY/);
      await eventually('control is told', async () => {
        const view = await findEdgeView(w.db.query, 'fra1', systemClock());
        return view?.rejected.some(({ key: name, error }) => name === key && error.startsWith('withheld: ')) === true;
      });
      assert.equal(edge.client.isConnected, true);
      const { snapshots } = control;

      await w.db.transaction((trx) => setSuspect(trx, 'fra1', null));
      const next = await secureDomain(w, (await w.addDomain('foreign.example.com')).id, 'foreign.example.com');
      await eventually('it has all secrets', () => edge.store.getCertificate(key) !== undefined);
      await caughtUp(w, 'fra1');
      for (const each of [key, next]) assert.match(edge.store.getCertificate(each)?.key ?? '', /PRIVATE KEY/);
      assert.equal(edge.store.getSpec('a.example.com')?.spec.tls?.certificate, key);
      assert.deepEqual([edge.store.countRejections(), control.snapshots], [0, snapshots + 1]);
      assert.equal(edge.store.getCertificate(former), undefined);
    },
  );
});

function startEdge(w: FleetWorld, controls: readonly string[], edgeId: string, group: string) {
  w.groups[edgeId] = group;
  const link = linkTo(controls, makeCredentials(w.authority, edgeId));
  const confirms: number[] = [];
  const edge = startTestEdge(w.folder, link, {
    edgeId,
    confirm: async ({ revision }) => void confirms.push(revision),
  });
  return {
    ...edge,
    confirms,
    async [Symbol.asyncDispose]() {
      await edge[Symbol.asyncDispose]();
      link[Symbol.dispose]();
    },
  };
}

/** Lines of base64 that the certificate alone has. */
async function linesOf({ db }: FleetWorld, key: string): Promise<readonly string[]> {
  const row = db.query.selectFrom('resource').select('body').where('kind', '=', 'certificate').where('key', '=', key);
  const { certificate } = JSON.parse((await row.executeTakeFirstOrThrow()).body);
  const [leaf = ''] = String(certificate).split('-----END');
  return leaf
    .split('\n')
    .slice(-4)
    .filter((line) => line.length === 64);
}

function names(store: EdgeStore): readonly string[] {
  return ['a.example.com', 'b.example.com', 'foreign.example.com'].filter((name) => store.getSpec(name) !== undefined);
}

async function caughtUp(w: FleetWorld, ...edges: readonly string[]): Promise<void> {
  await eventually(`${edges.join()} acknowledge the newest revision`, async () => {
    const { revision } = await readConfigHead(w.db.query);
    const live = await listLiveEdges(w.db.query, systemClock());
    const applied = edges.map((name) => live.find(({ edge }) => edge === name)?.appliedRevision);
    assert.deepEqual(
      applied,
      edges.map(() => revision),
    );
    return true;
  });
}
