/** The feed to edges on other machines: mutual TLS, several controls, and a control that ends. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import type { Db } from '#db/open.ts';
import { ALONE } from '#db/peers/peers.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { openUpload } from '#feed/client/upload.ts';
import type { UploadedAnswer } from '#feed/publish/asks.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { formatPositionQuery } from '#feed/wire/position-query.ts';
import { LOGS_PATH, PREFETCH_PATH, STATUS_PATH, STREAM_PATH } from '#feed/wire/protocol.ts';
import { readEvents } from '#feed/wire/sse.ts';
import { FEED_HEADER } from '#feed/wire/versions.ts';
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

  test(
    'a version of the feed is agreed on, and an edge without one in common learns which',
    needs('openssl'),
    async (t) => {
      await using w = await startWorld(t);
      await using control = await w.startControl();
      using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
      const { signal } = new AbortController();
      const ask = async (versions: string | undefined) => {
        const headers = { [FEED_HEADER]: versions ?? [] };
        const { outgoing } = link.open({ path: '/edge/v1/none', signal, headers }, false);
        outgoing.end();
        const [response] = await once(outgoing, 'response');
        response.resume();
        return `${response.statusCode} ${response.headers[FEED_HEADER]}`;
      };
      const rows: readonly (readonly [versions: string | undefined, outcome: string])[] = [
        ['2', '404 2'],
        ['1-2', '404 2'],
        ['2-3', '404 2'],
        ['3', '426 2'],
        ['1', '426 2'],
        [undefined, '426 2'],
        ['two', '400 undefined'],
        ['3-2', '400 undefined'],
      ];
      for (const [versions, outcome] of rows) assert.equal(await ask(versions), outcome, versions ?? 'none');
    },
  );

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

  test(
    'a control that stops follows its edges until they have left, and takes no others',
    needs('openssl'),
    async (t) => {
      await using w = await startWorld(t);
      await using control = await w.startControl({ seen: 2 });
      await publishNow(w.db, putSite(1, 'a.example.com'));
      const { epoch, revision, tag } = await readConfigHead(w.db.query);
      const path = `${STREAM_PATH}?${formatPositionQuery({ epoch, revision, tag }, 'default.1')}`;
      using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
      const { signal } = new AbortController();
      const open = () => requestFeed({ link, path, signal, silenceMs: 30_000, isStream: true });
      const response = await open();
      const events = readEvents(response, 100_000);
      const next = async (name: string) => {
        for (;;) {
          const { value } = await events.next();
          assert.ok(value !== undefined, `before ${name}`);
          if (value.kind === 'event' && value.name === name) return value.data;
        }
      };
      let isOver = false;
      const ending = control.endStreams(30_000).then(() => {
        isOver = true;
      });
      assert.deepEqual(JSON.parse(await next('goaway')), { spreadMs: 5 });
      await publishNow(w.db, putSite(2, 'b.example.com'));
      assert.match(await next('delta'), /b\.example\.com/);
      await assert.rejects(open(), { status: 503, reason: /^stopping: / });
      assert.equal(isOver, false);
      response.destroy();
      await ending;
    },
  );

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

  test(
    'an upload reaches the control that asks, whichever the edge follows, and is cut there',
    needs('openssl'),
    async (t) => {
      await using w = await startWorld(t);
      await using first = await w.startControl();
      await using second = await w.startControl();
      const { signal } = new AbortController();
      const controls = [first.address, second.address];
      for (const { asks } of [first, second]) {
        const uploads: UploadedAnswer[] = [];
        using open = asks.ask(
          { content: 'send it', limitMs: 60_000, asked: { groups: ['default'], isOne: false } },
          () => undefined,
          (upload) => uploads.length === 0 && uploads.push(upload) === 1,
        );
        const id = open?.id ?? assert.fail();
        using link = linkTo(controls, makeCredentials(w.authority, 'fra1'));
        const upload = (await openUpload(link, { edge: 'fra1', id, signal })) ?? assert.fail('no control takes it');
        upload.write('media');
        const [taken = assert.fail()] = uploads;
        assert.equal(taken.edge, 'fra1');
        const [chunk] = await once(taken.body, 'data');
        assert.equal(String(chunk), 'media');
        assert.equal(await openUpload(link, { edge: 'fra1', id, signal }), undefined, 'one edge is enough');
        assert.equal(
          await openUpload(link, { edge: 'fra2', id, signal }),
          undefined,
          'an edge cannot speak for another',
        );
        assert.equal(await openUpload(link, { edge: 'fra1', id: 'unknown', signal }), undefined);
        taken.body.destroy();
        await once(upload, 'close');
      }
      using asked = first.asks.ask(
        { content: 'send it', limitMs: 60_000, asked: { groups: ['other'], isOne: false } },
        () => undefined,
        () => assert.fail('no edge of the default group was asked'),
      );
      using link = linkTo(controls, makeCredentials(w.authority, 'fra1'));
      assert.equal(await openUpload(link, { edge: 'fra1', id: asked?.id ?? assert.fail(), signal }), undefined);
    },
  );

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
    async startControl(peers: { readonly seen: number } = ALONE) {
      const socketPath = join(folder, `${++controls}.sock`);
      const server = await startFeedServer({
        db,
        socketPath,
        ...(options.ring !== undefined && { ring: options.ring }),
        snapshots: { directory: join(folder, `snapshots-${controls}`), bytesPerSecond: 1e9 },
        peers: { ...ALONE, ...peers },
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
        asks: server.asks,
        endStreams: (limitMs: number) => server.endStreams(limitMs),
        async [Symbol.asyncDispose]() {
          ending ??= end();
          await ending;
        },
      };
    },
    [Symbol.asyncDispose]: () => db[Symbol.asyncDispose](),
  };
}
