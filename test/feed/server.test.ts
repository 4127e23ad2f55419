/** Control's side of the feed against what edges should never send, and against edges that do not read. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, statSync, writeFileSync } from 'node:fs';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { zstdDecompressSync } from 'node:zlib';
import { sql } from 'kysely';
import type { Db } from '#db/open.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { startFeedServer } from '#feed/server/server.ts';
import { formatPositionQuery } from '#feed/wire/position-query.ts';
import { MAX_STATUS_BYTES } from '#feed/wire/protocol.ts';
import { systemClock } from '#lib/clock.ts';
import { newSqlite } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { openTestDatabase, publishNow, putSite, sendRaw, silentLog } from '../support/feed/feed.ts';
import { temporaryFolder } from '../support/temporary.ts';

describe('feed server', () => {
  test('the feed refuses requests that no edge sends, each with its status, and continues to serve', async (t) => {
    await using feed = await startFeed(t);
    const get = (path: string, headers = '') =>
      `GET ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n`;
    const post = (body: string, headers = `content-length: ${Buffer.byteLength(body)}\r\n`) =>
      `POST /edge/v1/status HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${headers}\r\n${body}`;
    const at = await readConfigHead(feed.db.query);
    const status = { edge: 'one', at, appliedRevision: 0, rejected: [], build: 'b', startedAt: 1 };
    const stream = '/edge/v1/stream?epoch=e&tag=t&revision=';
    const rejection = { kind: 'site', key: 'a', revision: 1, error: 'x' };
    const table: readonly (readonly [name: string, request: string, expected: number])[] = [
      ['another path', get('/'), 404],
      ['a path beyond', get('/edge/v1/stream/'), 404],
      ['a path that is no path', get('//'), 404],
      ['a member of every object', get('/constructor'), 404],
      ['another method', get('/edge/v1/status'), 405],
      ['another method', post('').replace('status', 'snapshot'), 405],
      ['no revision', get('/edge/v1/stream?epoch=e&tag=t'), 400],
      ['no epoch', get('/edge/v1/stream?revision=1&tag=t'), 400],
      ['no tag', get('/edge/v1/stream?epoch=e&revision=1'), 400],
      ['an epoch with a line end', get('/edge/v1/stream?epoch=a%0Ab&revision=1&tag=t'), 400],
      ['a tag with a line end', get('/edge/v1/stream?epoch=e&revision=1&tag=a%0Ab'), 400],
      ['a snapshot from half a place', get('/edge/v1/snapshot?epoch=e'), 400],
      ...['', '-1', '1.5', '1e3', '0x10', ' 1', 'NaN', '9'.repeat(16)].map(
        (revision) => [`revision '${revision}'`, get(stream + encodeURIComponent(revision)), 400] as const,
      ),
      ['through a proxy', get(`${stream}0`, 'Forwarded: for=1.2.3.4\r\n'), 400],
      ['through a proxy', get('/edge/v1/snapshot', 'x-forwarded-for: 1.2.3.4\r\n'), 400],
      ['through a proxy', get('/edge/v1/snapshot', 'X-Forwarded-Proto: https\r\n'), 400],
      ['through a proxy', get('/edge/v1/snapshot', 'via: 1.1 proxy\r\n'), 400],
      ['an edge of feed 2 or later', get('/edge/v1/nothing', 'causeway-feed: 2-3\r\n'), 404],
      ['an edge of feed 2 only', get('/edge/v1/nothing', 'causeway-feed: 2\r\n'), 404],
      ['an edge of feed 3 only', get('/edge/v1/stream', 'causeway-feed: 3\r\n'), 426],
      ['a range that is none', get('/edge/v1/stream', 'causeway-feed: two\r\n'), 400],
      ['two ranges', get('/edge/v1/stream', 'causeway-feed: 1\r\ncauseway-feed: 2\r\n'), 400],
      ['a live report that is none', post('{"edge":"one"}').replace('status', 'live'), 400],
      ['no HTTP at all', 'hello\r\n\r\n', 400],
      ['an empty report', post(''), 400],
      ['a report that is no JSON', post('{"edge":'), 400],
      ['a report that is a list', post('[]'), 400],
      ['a report without an edge', post(JSON.stringify({ ...status, edge: undefined })), 400],
      ['an edge with a path for a name', post(JSON.stringify({ ...status, edge: '../x' })), 400],
      ['a long edge', post(JSON.stringify({ ...status, edge: 'x'.repeat(65) })), 400],
      ['a negative revision', post(JSON.stringify({ ...status, appliedRevision: -1 })), 400],
      ['more applied than there is', post(JSON.stringify({ ...status, appliedRevision: 1 })), 400],
      ['no place', post(JSON.stringify({ ...status, at: undefined })), 400],
      ['a place without its tag', post(JSON.stringify({ ...status, at: { ...at, tag: '' } })), 400],
      ['a place of another database', post(JSON.stringify({ ...status, at: { ...at, epoch: 'e' } })), 409],
      ['a place with another tag', post(JSON.stringify({ ...status, at: { ...at, tag: 't' } })), 409],
      ['a place above the newest', post(JSON.stringify({ ...status, at: { ...at, revision: 1 } })), 409],
      ['a revision as text', post(JSON.stringify({ ...status, appliedRevision: '1' })), 400],
      ['a revision beyond counting', post(JSON.stringify({ ...status, appliedRevision: 2 ** 60 })), 400],
      ['rejections that are none', post(JSON.stringify({ ...status, rejected: [null] })), 400],
      ['too many rejections', post(JSON.stringify({ ...status, rejected: Array(1001).fill(rejection) })), 400],
      ['a report that never ends', post('x'.repeat(MAX_STATUS_BYTES + 1)), 413],
      [
        'a report of pieces without end',
        post(`400000\r\n${'x'.repeat(0x400000)}\r\n0\r\n\r\n`, 'transfer-encoding: chunked\r\n'),
        413,
      ],
      ['a good report', post(JSON.stringify(status)), 204],
      ['one of an older instance', post(JSON.stringify({ ...status, startedAt: 0 })), 409],
      [
        'a good report with all rejections',
        post(JSON.stringify({ ...status, rejected: Array(1000).fill(rejection) })),
        204,
      ],
    ];
    for (const [name, request, expected] of table) {
      const answer = await sendRaw(feed.socketPath, request);
      assert.match(answer, new RegExp(`^HTTP/1.1 ${expected} `), `${name}: ${answer.slice(0, 200)}`);
    }
    assert.equal((await listLiveEdges(feed.db.query, systemClock())).length, 1);
  });

  test('every answer of the feed has the version that control chose, or the range that it speaks', async (t) => {
    await using feed = await startFeed(t);
    const versionOf = async (header: string) => {
      const answer = await sendRaw(
        feed.socketPath,
        `GET /edge/v1/snapshot HTTP/1.1\r\nhost: x\r\nconnection: close\r\n${header}\r\n`,
      );
      return /^HTTP\/1.1 (\d+) [\s\S]*?\r\ncauseway-feed: (.*)\r\n/i.exec(answer)?.slice(1);
    };
    assert.deepEqual(await versionOf(''), ['200', '1']);
    assert.deepEqual(await versionOf('causeway-feed: 1\r\n'), ['200', '1']);
    assert.deepEqual(await versionOf('causeway-feed: 2-3\r\n'), ['200', '2']);
    assert.deepEqual(await versionOf('causeway-feed: 3-9\r\n'), ['426', '1-2']);
  });

  test('the feed tells an edge that deltas do not suffice, and ends the stream', async (t) => {
    await using feed = await startFeed(t);
    await publishNow(feed.db, putSite(1, 'a.example.com'));
    await publishNow(feed.db, { kind: 'site', key: 'a.example.com', op: 'delete' });
    await feed.db.query.updateTable('config_head').set({ min_revision: 2 }).execute();
    const { epoch, tag } = await readConfigHead(feed.db.query);
    const { rows } = await sql<{ tag: string }>`select tag from revision_tag where revision = 1`.execute(feed.db.query);
    const queries = [
      `epoch=other&revision=2&tag=${tag}`,
      `epoch=${epoch}&revision=2&tag=other`,
      `epoch=${epoch}&revision=1&tag=${rows[0]?.tag}`,
      `epoch=${epoch}&revision=3&tag=${tag}`,
    ];
    for (const query of queries) {
      const answer = await sendRaw(
        feed.socketPath,
        `GET /edge/v1/stream?${query} HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`,
      );
      assert.match(answer, /event: reset\ndata: \{\}\n\n/, query);
      assert.doesNotMatch(answer, /delta/);
    }
  });

  test('the feed sends changes as events with their position', async (t) => {
    await using feed = await startFeed(t);
    const first = formatPositionQuery(await readConfigHead(feed.db.query));
    await publishNow(feed.db, putSite(1, 'a.example.com'));
    const { tag } = await readConfigHead(feed.db.query);
    const socket = connect(feed.socketPath);
    t.after(() => socket.destroy());
    let text = '';
    socket.setEncoding('utf8').on('data', (chunk) => {
      text += chunk;
    });
    socket.write(`GET /edge/v1/stream?${first} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await eventually('the stream stands', () => text.includes('\n:\n\n') && text.includes('"changes"'));
    assert.match(text, /content-type: text\/event-stream/i);
    const delta = `"from":0,"to":1,"tag":"${tag}","changes":[{"kind":"site","key":"a.example.com","revision":1,"op":"put","body":{`;
    assert.ok(text.includes(`id: 1\nevent: delta\ndata: {${delta}`), text);
    await publishNow(feed.db, { kind: 'site', key: 'a.example.com', op: 'delete' });
    await eventually('the deletion comes', () =>
      text.includes('"changes":[{"kind":"site","key":"a.example.com","revision":2,"op":"delete"}]}\n'),
    );
  });

  test('a snapshot is one zstd frame of lines that begin with their count and hash', async (t) => {
    await using feed = await startFeed(t);
    await publishNow(feed.db, putSite(1, 'a.example.com'), putSite(2, 'b.example.com'));
    const answer = await readAll(feed.socketPath, 'GET /edge/v1/snapshot HTTP/1.0\r\n\r\n');
    const body = answer.subarray(answer.indexOf('\r\n\r\n') + 4);
    const [head, ...lines] = zstdDecompressSync(body).toString().trimEnd().split('\n');
    assert.deepEqual(
      lines.map((line) => JSON.parse(line).key),
      ['a.example.com', 'b.example.com'],
    );
    const { minRevision: _, ...place } = await readConfigHead(feed.db.query);
    assert.deepEqual({ ...JSON.parse(head ?? ''), hash: '' }, { ...place, continues: false, count: 2, hash: '' });
  });

  test('an edge that leaves 8 MB unread is dropped; the others go on', async (t) => {
    await using feed = await startFeed(t);
    const first = formatPositionQuery(await readConfigHead(feed.db.query));
    const request = `GET /edge/v1/stream?${first} HTTP/1.1\r\nhost: x\r\n\r\n`;
    const slow = connect(feed.socketPath);
    const good = connect(feed.socketPath);
    t.after(() => [slow, good].map((socket) => socket.destroy()));
    let received = 0;
    good.on('data', (chunk) => {
      received += chunk.length;
    });
    slow.on('error', () => undefined); // it is to be cut
    slow.write(request);
    good.write(request);
    await eventually('both follow', () => feed.server.connectedEdges === 2);
    const body = { ballast: 'x'.repeat(512 * 1024) };
    let published = 0;
    while (feed.server.connectedEdges === 2 && published < 60) {
      await publishNow(feed.db, { kind: 'site', key: 'a.example.com', op: 'put', body });
      published += 1;
      await eventually('the good edge has it', () => received >= published * 512 * 1024);
    }
    assert.equal(feed.server.connectedEdges, 1);
    assert.ok(published >= 17 && published < 40, `dropped after ${published} half megabytes`);
  });

  test("the feed's socket is for its user only, replaces one of a dead process, and no file and no live one", async (t) => {
    const folder = temporaryFolder(t);
    await using db = await openTestDatabase(await newSqlite(t));
    const start = (socketPath: string) => startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
    const path = join(folder, 'run', 'feed.sock');
    {
      await using _server = await start(path);
      assert.deepEqual([statSync(path).mode & 0o777, statSync(join(folder, 'run')).mode & 0o777], [0o600, 0o700]);
      await assert.rejects(start(path), /another process listens/);
    }
    assert.equal(existsSync(path), false);
    // What a killed process leaves: a socket that nobody accepts on.
    const program = `require('net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`;
    spawnSync(process.execPath, ['-e', program]);
    assert.ok(existsSync(path));
    {
      await using _server = await start(path);
    }
    const file = join(folder, 'file');
    writeFileSync(file, 'mine');
    await assert.rejects(start(file), /is not a socket/);
    const other = createServer().listen(join(folder, 'other'));
    await once(other, 'listening');
    await assert.rejects(start(join(folder, 'other')), /another process listens/);
    other.close();
  });

  test('closing the feed ends open streams at once', async (t) => {
    const feed = await startFeed(t);
    const first = formatPositionQuery(await readConfigHead(feed.db.query));
    const stream = sendRaw(feed.socketPath, `GET /edge/v1/stream?${first} HTTP/1.1\r\nhost: x\r\n\r\n`);
    await eventually('it follows', () => feed.server.connectedEdges === 1);
    await feed[Symbol.asyncDispose]();
    assert.match(await stream, /^HTTP\/1.1 200/);
  });
});

async function startFeed(t: TestContext) {
  const socketPath = join(temporaryFolder(t), 'feed.sock');
  const db: Db = await openTestDatabase(await newSqlite(t));
  const server = await startFeedServer({ db, socketPath, clock: systemClock, log: silentLog });
  return {
    db,
    server,
    socketPath,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await db[Symbol.asyncDispose]();
    },
  };
}

async function readAll(socketPath: string, request: string): Promise<Buffer> {
  const socket = connect(socketPath);
  socket.write(request);
  return Buffer.concat(await socket.toArray());
}
