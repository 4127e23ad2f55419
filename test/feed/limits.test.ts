/** Limits of control for edges on other machines: streams and transfers of snapshots, counted to the last one. */
import assert from 'node:assert/strict';
import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, type TestContext, test } from 'node:test';
import { type Change, readConfigHead } from '#db/tables/resources.ts';
import { readViews } from '#feed/publish/views.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { formatPositionQuery } from '#feed/wire/position-query.ts';
import { SEAL_HEADER, SNAPSHOT_PATH, STREAM_PATH } from '#feed/wire/protocol.ts';
import { FEED_HEADER } from '#feed/wire/versions.ts';
import { formatSealKey } from '#feed/wire/view-key-box.ts';
import { systemClock } from '#lib/clock.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, silentLog } from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

const STREAMS = 3000;
/** Fewer than the kernel lets wait for a listener. */
const AT_ONCE = 100;
const TRANSFERS = 16;

describe('limits for edges on other machines', () => {
  test('a control serves 3,000 streams, and sends further edges to another control until one has ended', async (t) => {
    await using control = await startControl(t);
    const { db } = control;
    const { id } = (await readViews(db.query))('default');
    const path = `${STREAM_PATH}?${formatPositionQuery(await readConfigHead(db.query), id)}`;
    const streams: IncomingMessage[] = [];
    while (streams.length < STREAMS)
      streams.push(...(await Promise.all(Array.from({ length: AT_ONCE }, () => control.get(path)))));
    assert.ok(streams.every(({ statusCode }) => statusCode === 200));
    await eventually('all follow', () => control.server.connectedEdges === STREAMS);
    const beyond = await control.get(path);
    assert.deepEqual([beyond.statusCode, (await text(beyond)).split(':')[0]], [503, 'crowded']);
    streams[7]?.destroy();
    await eventually('one has left', () => control.server.connectedEdges === STREAMS - 1);
    assert.equal((await control.get(path)).statusCode, 200);
  });

  test('a control sends sixteen snapshots at once, and says to others when to ask again', async (t) => {
    await using control = await startControl(t);
    await publishNow(control.db, ...Array.from({ length: 100 }, largeResource));
    const transfers = await Promise.all(Array.from({ length: TRANSFERS }, () => control.get(SNAPSHOT_PATH)));
    assert.ok(transfers.every(({ statusCode }) => statusCode === 200));
    assert.equal(control.server.snapshots?.running, TRANSFERS);
    for (let n = 0; n < 20; n += 1) {
      const beyond = await control.get(SNAPSHOT_PATH);
      const seconds = Number(beyond.headers['retry-after']);
      assert.ok(beyond.statusCode === 503 && seconds >= 1 && seconds <= 30, `${beyond.statusCode} ${seconds}`);
      beyond.resume();
    }
    assert.equal(control.server.snapshots?.begun, TRANSFERS);
    transfers[3]?.destroy();
    await eventually('one has ended', () => control.server.snapshots?.running === TRANSFERS - 1);
    assert.equal((await control.get(SNAPSHOT_PATH)).statusCode, 200);
  });
});

/** A resource that does not compress: a hundred are more than a client that reads nothing is sent. */
function largeResource(_: unknown, n: number): Change {
  return { kind: 'test', key: String(n), op: 'put', body: randomBytes(50_000).toString('base64') };
}

/** A feed whose requests are all of edges on other machines, without their TLS. */
async function startControl(t: TestContext) {
  const folder = temporaryFolder(t);
  const db = await openTestDatabase(await newSqlite(t));
  const server = await startFeedServer({
    db,
    socketPath: join(folder, 'feed.sock'),
    snapshots: { directory: join(folder, 'snapshots'), bytesPerSecond: 1e9 },
    clock: systemClock,
    log: silentLog,
  });
  let edges = 0;
  const listener = createServer((incoming, response) => {
    edges += 1;
    void server.handle(incoming, response, { kind: 'edge', edge: `edge-${edges}`, serial: '1', group: 'default' });
  });
  const socketPath = join(folder, 'fleet.sock');
  await once(listener.listen(socketPath), 'listening');
  const seal = formatSealKey(generateKeyPairSync('x25519').publicKey);
  const get = async (path: string): Promise<IncomingMessage> => {
    const outgoing = request({ socketPath, path, agent: false, headers: { [FEED_HEADER]: '2', [SEAL_HEADER]: seal } });
    // `as`: what the event `response` of a client request carries.
    const [response] = (await once(outgoing.end(), 'response')) as [IncomingMessage];
    response.on('error', () => undefined); // the test ends most of them
    return response;
  };
  return {
    db,
    server,
    get,
    async [Symbol.asyncDispose]() {
      listener.closeAllConnections();
      await new Promise((resolve) => listener.close(resolve));
      await server[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}
