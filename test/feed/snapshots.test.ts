/** Files of snapshots: cut transfers are continued, too many are refused, and all of them together are paced. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, connect, createServer } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { setGroup } from '#api/settings/edge-groups.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { createPacer } from '#feed/server/pacer.ts';
import { SNAPSHOT_PATH } from '#feed/wire/protocol.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { publishNow, putSite, startTestEdge } from '../support/feed/feed.ts';
import { linkTo, makeCredentials } from '../support/feed/fleet-feed.ts';
import { startFleetWorld } from '../support/feed/fleet-world.ts';
import { needs } from '../support/runner/needs.ts';

const SITES = 20_000;

describe('files of snapshots', () => {
  test('an edge continues a snapshot that was cut, and reads the rest only', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newSqlite(t));
    await using control = await w.startControl();
    await publishNow(w.db, ...Array.from({ length: SITES }, (_, n) => putSite(n + 1, `d${n}.${name()}.example.com`)));
    await using way = await startCutter(t, control.address);
    const credentials = makeCredentials(w.authority, 'fra1');
    using link = linkTo([way.address], credentials);
    // Another edge reads it without cuts: so many bytes it has.
    using plain = linkTo([control.address], makeCredentials(w.authority, 'sin1'));
    await using other = startTestEdge(w.folder, plain, { edgeId: 'sin1' });
    await eventually('the other edge has all', () => other.store.countSites() === SITES);
    const total = control.sentBytes;
    // At 10, 50 and 99 % of the file: each connection begins where the last one was cut.
    way.cutAfter = [0.1, 0.4, 0.49].map((share) => Math.floor(total * share));
    await using edge = startTestEdge(w.folder, link, { edgeId: 'fra1' });
    await eventually('it has all', () => edge.store.countSites() === SITES);
    const snapshots = control.requests.filter((each) => each === `fra1 GET ${SNAPSHOT_PATH}`).length;
    assert.equal(snapshots, 4);
    // What was in flight at a cut is sent again: about 2.4 times the file. Four times would be each from the beginning.
    assert.ok(control.sentBytes - total < total * 3, `${control.sentBytes - total} bytes for ${total}`);
  });

  test('an edge keeps two transfers, and others have places left', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newSqlite(t));
    // What a first transfer has taken holds up the next ones for the whole test.
    await using control = await w.startControl({ bytesPerSecond: 1 });
    await w.addDomain('a.example.com');
    const stop = new AbortController();
    t.after(() => stop.abort());
    using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
    using other = linkTo([control.address], makeCredentials(w.authority, 'sin1'));
    const ask = (by: typeof link) =>
      requestFeed({ link: by, path: SNAPSHOT_PATH, signal: stop.signal, silenceMs: 60_000, isStream: true });
    for await (const _ of await ask(link));
    const waiting = [ask(link), ask(link)];
    for (const each of waiting) each.catch(() => {}); // aborted in the end
    await eventually('two are waiting', () => control.snapshots === 3);
    await assert.rejects(ask(link), { status: 503, reason: '2 snapshots are being sent to this edge' });
    ask(other).catch(() => {}); // aborted in the end
    await eventually('another edge has a place', () => control.snapshots === 4);
    stop.abort();
    await Promise.allSettled(waiting);
  });

  test('a transfer ends with its edge, also one that leaves before its file is made', needs('openssl'), async (t) => {
    await using w = await startFleetWorld(t, await newSqlite(t));
    await using control = await w.startControl({ bytesPerSecond: 1 });
    await w.addDomain('a.example.com');
    await setGroup(w.db, { name: 'eu', isDefault: false }, 1);
    w.groups['sin1'] = 'eu';
    using link = linkTo([control.address], makeCredentials(w.authority, 'fra1'));
    using other = linkTo([control.address], makeCredentials(w.authority, 'sin1'));
    const stop = new AbortController();
    const ask = (by: typeof link) =>
      requestFeed({ link: by, path: SNAPSHOT_PATH, signal: stop.signal, silenceMs: 60_000, isStream: true });
    // What comes after it waits for minutes.
    for await (const _ of await ask(link));
    // So that the file of the other group is not there at once.
    await publishNow(w.db, ...Array.from({ length: SITES / 4 }, (_, n) => putSite(n + 10, `d${n}.example.com`)));
    const asked = ask(other);
    asked.catch(() => {}); // aborted
    await eventually('it has begun', () => control.snapshots === 2);
    stop.abort();
    await Promise.allSettled([asked]);
    await control[Symbol.asyncDispose](); // waits for the transfers
  });

  test('transfers are paced together', async () => {
    let now = 0;
    const pacer = createPacer(1000, () => now);
    const { signal } = new AbortController();
    await pacer.take(10_000, signal);
    now = 10_000;
    await pacer.take(1, signal); // what was taken before has been sent
    const stop = new AbortController();
    const waiting = pacer.take(1, stop.signal);
    stop.abort();
    await assert.rejects(waiting);
  });
});

/** Random, so that the file does not compress to a few bytes. */
function name(): string {
  return Math.random().toString(36).slice(2).padEnd(10, '0');
}

/** A way to a listener that cuts connections: the first after so many bytes of the answer, and so on. */
async function startCutter(t: TestContext, target: string) {
  const { port } = new URL(target);
  const way = {
    address: '',
    cutAfter: [] as number[],
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
  const server = createServer((near) => {
    const far = connect(Number(port), '127.0.0.1');
    let bytes = 0;
    for (const socket of [near, far]) socket.on('error', () => undefined); // cutting is the purpose
    near.pipe(far);
    far.on('data', (chunk: Buffer) => {
      const [limit = Number.POSITIVE_INFINITY] = way.cutAfter;
      if (bytes + chunk.length < limit) near.write(chunk);
      else if (!near.writableEnded) {
        way.cutAfter.shift();
        near.end(chunk.subarray(0, limit - bytes));
      }
      bytes += chunk.length;
    });
    near.on('close', () => far.destroy());
    far.on('close', () => near.destroy());
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  t.after(() => server.close());
  // `as`: a TCP server that listens has such an address.
  way.address = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return way;
}
