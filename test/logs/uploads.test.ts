/** Log parts that edges put into S3 by signed addresses, against a server of S3 that is not ours, on both engines. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { ALONE } from '#db/peers/peers.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain } from '#db/tables/domains.ts';
import { listLogParts } from '#db/tables/log-parts.ts';
import { listTop } from '#db/tables/statistics.ts';
import type { Peer } from '#feed/publish/peer.ts';
import { ForeignEdgeError, MessageError } from '#feed/wire/messages.ts';
import { steadyClock, systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { formatPart, type LogPart } from '#logs/report.ts';
import { createPlaceParts, type PlacePartsOptions } from '#logs/ship/place-parts.ts';
import { blobKey } from '#logs/store/blob-store.ts';
import { s3BlobStore } from '#logs/store/s3.ts';
import { formatStored, formatWanted, parsePlaces } from '#logs/upload-messages.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { openControlTraffic } from '#roles/control/control-traffic.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';
import { startS3Server } from '../support/logs/s3-server.ts';

const AT = Date.parse('2026-11-29T10:00:00Z');
const DAY = '2026-11-29';
const PEER: Peer = { edge: 'fra1', group: 'default', kind: 'edge', serial: '1' };
const LOG = createLogger({ level: 'silent', name: 'test' });

function partOf(domainId: number, hour: string): LogPart {
  return {
    key: { domainId, day: DAY, hour, edge: 'fra1', file: 'worker-1-20261129T100000000Z-0000' },
    ...{ lines: 2, firstAt: AT },
    top: { url: [{ value: '/a', requests: 2, bytes: 20 }], referer: [], client: [], status: [] },
    gzip: gzipSync(`one of ${hour}\ntwo\n`),
  };
}

async function start(t: TestContext, newDatabase: NewDatabase) {
  const place = await startS3Server(t);
  const db = await openTestDatabase(await newDatabase(t));
  t.after(() => db[Symbol.asyncDispose]());
  const { id: accountId } = await createAccount(db.query, { name: 'a', kind: 'customer', now: 0 });
  const domain = { type: 'static', icpNumber: '', remark: '', state: 'open', createdAt: 0 } as const;
  const add = (name: string) => insertDomain(db.query, { ...domain, accountId, name, settings: DEFAULT_SETTINGS });
  const { id } = await add('www.example.com');
  const config = {
    logStore: { kind: 's3', ...place },
    logDays: 30,
    timeZone: 'Asia/Shanghai',
    statSeconds: 30,
  } as const;
  const control = openControlTraffic(config, db, ALONE, LOG);
  t.after(() => control[Symbol.asyncDispose]());
  const { taker } = control;
  const { uploads = assert.fail('no uploads') } = taker;
  const put: PlacePartsOptions['put'] = async ({ url, headers }, bytes) => {
    const { 'content-length': _, ...fields } = headers;
    const response = await fetch(url, { method: 'PUT', headers: fields, body: Buffer.from(bytes) });
    await response.arrayBuffer();
    return response.status;
  };
  /** What an edge has after a start. */
  const startEdge = (changes: Partial<PlacePartsOptions> = {}) =>
    createPlaceParts({
      askPlaces: (message) => uploads.findPlaces(message, PEER),
      tellStored: (message) => uploads.takeStored(message, PEER),
      ...{ put, steadyClock, log: LOG },
      ...changes,
    });
  const blobs = s3BlobStore(place, systemClock);
  const read = async (name: string) => {
    const key = blobKey(name) ?? assert.fail(name);
    const size = (await blobs.uploads?.sizeOf(key)) ?? 0;
    const chunks: Buffer[] = [];
    for await (const chunk of await blobs.read(key, { start: 0, end: size })) chunks.push(Buffer.from(chunk));
    return gunzipSync(Buffer.concat(chunks)).toString();
  };
  const topOf = () => listTop(db.query, { domainIds: [id], kind: 'url', from: 0, to: AT * 2, limit: 9 });
  return { db, id, taker, uploads, startEdge, put, read, topOf, signal: new AbortController().signal };
}

describeOnBothEngines('log parts by signed addresses', (newDatabase) => {
  test('parts are stored once, wherever an edge or an answer is lost on the way', async (t) => {
    const { db, id, uploads, startEdge, put, read, topOf, signal } = await start(t, newDatabase);
    const lost = () => {
      throw new Error('killed');
    };
    const after = async <T>(work: Promise<T>): Promise<T> => {
      await work;
      return lost();
    };
    /** An edge that is killed at a step is another one after it, and begins anew with the file. */
    const kills: readonly Partial<PlacePartsOptions>[] = [
      { askPlaces: lost },
      { askPlaces: (message) => after(uploads.findPlaces(message, PEER)) },
      { tellStored: lost },
      { tellStored: (message) => after(uploads.takeStored(message, PEER)) },
    ];
    const hours = kills.map((_, n) => String(10 + n));
    for (const [n, kill] of kills.entries()) {
      const parts = [partOf(id, hours[n] ?? '')];
      await assert.rejects(startEdge(kill)(parts, signal), /killed/);
      assert.deepEqual(await startEdge()(parts, signal), []);
      assert.deepEqual(await startEdge({ put: lost })(parts, signal), [], 'control has it: nothing is put');
    }
    const cut = new AbortController();
    const whenPut: PlacePartsOptions['put'] = async (...given) => {
      await put(...given);
      cut.abort(new Error('killed'));
      return 200;
    };
    await assert.rejects(startEdge({ put: whenPut })([partOf(id, '20')], cut.signal), /killed/);
    assert.deepEqual(await startEdge()([partOf(id, '20'), partOf(id, '21')], signal), []);
    const rows = await listLogParts(db.query, id, DAY);
    assert.deepEqual(rows.map(({ key }) => key.split('/')[2]?.slice(0, 2)).sort(), [...hours, '20', '21']);
    assert.deepEqual(await topOf(), [{ value: '/a', requests: 2 * 6, bytes: 20 * 6 }]);
    for (const { key } of rows) assert.match(await read(key), /^one of \d\d\ntwo\n$/);
  });

  test('what the storage refuses, cuts or loses goes to control, and the storage is left alone for a while', async (t) => {
    const { db, id, taker, startEdge, put, topOf, signal } = await start(t, newDatabase);
    let puts = 0;
    const failing: readonly PlacePartsOptions['put'][] = [
      async () => 500,
      () => Promise.reject(new Error('no way there')),
      async (place, bytes, aborted) => await put(place, bytes.subarray(0, 9), aborted),
      async () => 200, // and has stored nothing
    ];
    for (const [n, fault] of failing.entries()) {
      const parts = [partOf(id, String(10 + n)), partOf(id, String(15 + n))];
      puts = 0;
      const edge = startEdge({
        put: (...given) => {
          puts++;
          return fault(...given);
        },
      });
      assert.deepEqual(await edge(parts, signal), parts);
      assert.equal(puts, n < 2 ? 1 : 2);
      for (const part of parts) await taker.takePart(formatPart(part), PEER);
      assert.deepEqual(await startEdge()(parts, signal), []);
    }
    assert.equal((await listLogParts(db.query, id, DAY)).length, 8);
    assert.deepEqual(await topOf(), [{ value: '/a', requests: 2 * 8, bytes: 20 * 8 }]);
  });

  test('an edge gets addresses for its own parts alone, and those of foreign domains belong to nobody', async (t) => {
    const { db, id, uploads, startEdge, topOf, signal } = await start(t, newDatabase);
    const part = partOf(id, '10');
    const wanted = (more: object) => {
      const { gzip, key } = part;
      const sha256 = createHash('sha256').update(gzip).digest('hex');
      return formatWanted([{ key: { ...key, ...more }, firstAt: AT, bytes: gzip.length, sha256 }]);
    };
    await assert.rejects(uploads.findPlaces(wanted({ edge: 'fra2' }), PEER), ForeignEdgeError);
    const { gzip: _, ...head } = part;
    const foreign = { ...head, bytes: 1, key: { ...head.key, edge: 'fra2' } };
    await assert.rejects(uploads.takeStored(formatStored([foreign]), PEER), ForeignEdgeError);
    for (const message of ['', '{}', '[]', '{"parts":{}}', wanted({ hour: '99' }), wanted({ domainId: -1 })])
      await assert.rejects(uploads.findPlaces(message, PEER), MessageError, message);
    const many = JSON.stringify({ parts: Array.from({ length: 101 }, () => JSON.parse(wanted({})).parts[0]) });
    await assert.rejects(uploads.findPlaces(many, PEER), MessageError);
    const [place] = parsePlaces(await uploads.findPlaces(wanted({}), PEER)) ?? [];
    const url = new URL(place !== undefined && 'url' in place ? place.url : assert.fail());
    assert.match(url.pathname, new RegExp(`/access/${id}/${DAY}/10\\.fra1\\.`));
    assert.equal(url.searchParams.get('X-Amz-Expires'), '900');
    assert.equal(url.searchParams.get('X-Amz-SignedHeaders'), 'content-length;content-type;host;x-amz-content-sha256');
    assert.deepEqual(await startEdge()([partOf(4_711, '10')], signal), []);
    const rows = await db.query.selectFrom('log_part').select(['domain_id', 'key']).execute();
    assert.deepEqual(
      rows.map(({ domain_id, key }) => [domain_id, key.slice(-14)]),
      [[0, '.of-4711.log.gz'.slice(-14)]],
    );
    assert.deepEqual(await topOf(), []);
  });
});
