/** The feed to edges on other machines: mutual TLS, several controls, and a control that ends. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { requestFeed } from '#feed/feed-request.ts';
import { LOGS_PATH, PREFETCH_PATH, STATUS_PATH, STREAM_PATH } from '#feed/protocol.ts';
import { startFeedServer } from '#feed/server.ts';
import { systemClock } from '#lib/clock.ts';
import { createAuthority, type TestAuthority } from '../support/certificates/certificate.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putPrefetch, putSite, silentLog, startTestEdge } from '../support/feed/feed.ts';
import { linkTo, makeCredentials, startFleetListener } from '../support/feed/fleet-feed.ts';
import { needs } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('feed of other machines', () => {
  test('an edge follows, acknowledges and reports over mutual TLS', needs('openssl'), async (t) => {
    await using w = await startWorld(t);
    await using control = await w.startControl();
    await publishNow(w.db, putSite(1, 'a.example.com'));
    using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
    await using edge = startTestEdge(w.folder, link, { edgeId: 'fra1' });
    await eventually('it has the site', () => edge.client.appliedRevision === 1);
    await publishNow(w.db, putPrefetch(1, 0, '/a'), putSite(1, 'a.example.com', 'other.example.net'));
    await eventually('it acknowledges', async () => (await revisions(w.db))['fra1'] === 2);
    await eventually('it reports the prefetch', () => control.requests.includes(`fra1 POST ${PREFETCH_PATH}`));
    assert.equal(edge.store.getSpec('a.example.com')?.revision, 2);
  });

  test('a body that names another edge is refused', needs('openssl'), async (t) => {
    await using w = await startWorld(t);
    await using control = await w.startControl();
    using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
    const { signal } = new AbortController();
    const at = { epoch: 'e', revision: 0, tag: 't' };
    const status = { edge: 'fra2', at, appliedRevision: 0, rejected: [], build: 'b', startedAt: 1 };
    const table = [
      [STATUS_PATH, status],
      [PREFETCH_PATH, { edge: 'fra2', at, results: [] }],
      ['/edge/v1/live', { edge: 'fra2', epoch: 'e', at: 1, events: [] }],
    ] as const;
    for (const [path, body] of table) {
      const sent = requestFeed({ link, path, signal, silenceMs: 30_000, body: JSON.stringify(body) });
      await assert.rejects(sent, { status: 403, reason: 'edge: expected the id of the certificate' }, path);
    }
    const unknown = requestFeed({ link, path: LOGS_PATH, signal, silenceMs: 30_000, body: '' });
    await assert.rejects(unknown, { status: 404 });
  });

  test('an edge goes on to another control when its own ends or dies', needs('openssl'), async (t) => {
    await using w = await startWorld(t);
    const first = await w.startControl();
    const second = await w.startControl();
    await publishNow(w.db, putSite(1, 'a.example.com'));
    using link = linkTo([first.address, second.address], makeCredentials(w.authority, 'fra1'));
    await using edge = startTestEdge(w.folder, link, { edgeId: 'fra1' });
    await eventually('it follows', () => edge.client.isConnected);
    const [used, other] = first.requests.some((each) => each.includes(STREAM_PATH)) ? [first, second] : [second, first];
    await used[Symbol.asyncDispose]();
    await publishNow(w.db, putSite(2, 'b.example.com'));
    await eventually('it has the site of the other control', () => edge.store.getSpec('b.example.com'));
    assert.equal(other.requests.filter((each) => each.includes('snapshot')).length, 0);
    await eventually('it acknowledges there', async () => (await revisions(w.db))['fra1'] === 2);
    await other[Symbol.asyncDispose]();
    await eventually('it tries both', () => edge.client.reconnects > 3);
    assert.equal(edge.store.countSites(), 2);
  });

  test('an edge uses the controls that are announced, also after its own start', needs('openssl'), async (t) => {
    await using w = await startWorld(t);
    const first = await w.startControl();
    await using second = await w.startControl();
    await publishNow(w.db, putSite(1, 'a.example.com'), {
      kind: 'fleet',
      key: 'controls',
      op: 'put',
      body: { controls: [second.address] },
    });
    const credentials = makeCredentials(w.authority, 'fra1');
    {
      using link = linkTo([first.address], credentials);
      await using edge = startTestEdge(w.folder, link, { edgeId: 'fra1' });
      await eventually('it has the announcement', () => link.controlCount === 2);
      assert.deepEqual(edge.store.announcedControls(), [second.address]);
    }
    await first[Symbol.asyncDispose]();
    using link = linkTo([first.address], credentials);
    await using edge = startTestEdge(w.folder, link, { edgeId: 'fra1' });
    await eventually('it follows the announced control', () => edge.client.isConnected);
    assert.ok(second.requests.some((each) => each.includes(STREAM_PATH)));
  });

  test('a client without a certificate of the fleet gets no answer', needs('openssl'), async (t) => {
    await using w = await startWorld(t);
    await using control = await w.startControl();
    const { signal } = new AbortController();
    const stranger = makeCredentials(createAuthority(t), 'fra1');
    const foreign = { ...stranger, tls: () => ({ ...stranger.tls(), ca: w.authority.ca }) };
    using link = linkTo([control.address], foreign);
    await assert.rejects(requestFeed({ link, path: STREAM_PATH, signal, silenceMs: 30_000 }));
    assert.deepEqual(control.requests, []);
  });
});

async function revisions(db: Db): Promise<Readonly<Record<string, number>>> {
  const edges = await listLiveEdges(db.query, systemClock());
  return Object.fromEntries(edges.map(({ edge, appliedRevision }) => [edge, appliedRevision]));
}

async function startWorld(t: TestContext, options: { readonly ring?: Keyring } = {}) {
  const folder = temporaryFolder(t);
  const authority: TestAuthority = createAuthority(t);
  const db = await openTestDatabase(await newSqlite(t));
  let controls = 0;
  return {
    folder,
    authority,
    db,
    async startControl() {
      const socketPath = join(folder, `${++controls}.sock`);
      const server = await startFeedServer({
        db,
        socketPath,
        ...(options.ring !== undefined && { ring: options.ring }),
        snapshots: { directory: join(folder, `snapshots-${controls}`), bytesPerSecond: 1e9 },
        clock: systemClock,
        log: silentLog,
      });
      const listener = await startFleetListener({ authority, handle: server.handle });
      let ending: Promise<void> | undefined;
      const end = async () => {
        await server[Symbol.asyncDispose]();
        await listener[Symbol.asyncDispose]();
      };
      return {
        address: listener.address,
        requests: listener.requests,
        async [Symbol.asyncDispose]() {
          ending ??= end();
          await ending;
        },
      };
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
