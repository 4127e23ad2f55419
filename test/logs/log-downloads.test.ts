/** Downloads of a day's log file that are taken up again while it grows, on both engines and from both kinds of storage. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain } from '#db/tables/domains.ts';
import { systemClock } from '#lib/clock.ts';
import { signedLogPath } from '#logs/download.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { s3BlobStore } from '#logs/store/s3.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { startTestApi } from '../support/api/api.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { startS3Server } from '../support/logs/s3-server.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';
import { temporaryFolder } from '../support/temporary.ts';

const DAY = '2026-01-31';
/** Beginning of the day in Shanghai. */
const MIDNIGHT = Date.parse(`${DAY}T00:00:00+08:00`);
const HOUR_MS = 3_600_000;

const STORES: Readonly<Record<string, (t: TestContext) => Promise<BlobStore>>> = {
  local: async (t) => localBlobStore(temporaryFolder(t)),
  S3: async (t) => s3BlobStore(await startS3Server(t), systemClock),
};

interface LogWorld {
  /** A new day's file, empty so far. */
  file(): Promise<{ readonly get: Get; readonly add: (hour: number) => Promise<number> }>;
}

type Get = (headers?: Readonly<Record<string, string>>, method?: string) => Promise<Answer>;

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Buffer;
}

async function start(t: TestContext, newDatabase: NewDatabase, blobs: BlobStore): Promise<LogWorld> {
  const ring = loadOrMakeKeyring(join(temporaryFolder(t), 'keyring'));
  const api = await startTestApi(t, newDatabase, { logs: { blobs, ring, hours: 24 } });
  const { id: accountId } = await createAccount(api.db.query, { name: 'a', kind: 'customer', now: 0 });
  const traffic = createTestTraffic(t, api.db, blobs);
  const domain = { type: 'static', icpNumber: '', remark: '', state: 'open', createdAt: 0 } as const;
  let files = 0;
  return {
    async file() {
      const name = `d${++files}.example.com`;
      const { id } = await insertDomain(api.db.query, { ...domain, accountId, name, settings: DEFAULT_SETTINGS });
      const log = { accountId, domainId: id, day: DAY, name: `${name}.log.gz` };
      const url = api.url + signedLogPath(ring, log, Math.floor(api.now / 1000) + 3600);
      return {
        async get(headers = {}, method = 'GET') {
          const response = await fetch(url, { headers, method });
          return {
            status: response.status,
            headers: response.headers,
            body: Buffer.from(await response.arrayBuffer()),
          };
        },
        add: (hour) => traffic.addLines(id, MIDNIGHT + hour * HOUR_MS, [`hour ${hour} of ${name}`]),
      };
    },
  };
}

/** Hours whose parts come before a piece is asked for, its length, and whether it is for the file as it was at first only. */
const pieces = fc.array(
  fc.record({
    hours: fc.array(fc.nat(23), { maxLength: 2 }),
    length: fc.integer({ min: 1, max: 150 }),
    isIfRange: fc.boolean(),
  }),
  { minLength: 2, maxLength: 5 },
);

for (const [kind, openStore] of Object.entries(STORES))
  describeOnBothEngines(`downloads that are taken up again, ${kind} storage`, (newDatabase) => {
    test('pieces of a download always belong to one file that can be had whole, in whatever order its parts arrive', async (t) => {
      const world = await start(t, newDatabase, await openStore(t));
      await fc.assert(
        fc.asyncProperty(pieces, async (plan) => {
          const { get, add } = await world.file();
          await add(12);
          let got: Buffer = Buffer.alloc(0);
          let etag = '';
          for (const { hours, length, isIfRange } of [...plan, { hours: [0], length: 100_000, isIfRange: false }]) {
            for (const hour of hours) await add(hour);
            const range = `bytes=${got.length}-${got.length + length - 1}`;
            const answer = await get({ range, ...(isIfRange && etag !== '' && { 'if-range': etag }) });
            const whole = await get();
            if (answer.status === 416) assert.equal(got.length, whole.body.length);
            else if (answer.status === 200) assert.ok(isIfRange && etag !== whole.headers.get('etag'));
            else assert.equal(answer.status, 206);
            if (answer.status === 200) got = answer.body;
            if (answer.status === 206) got = Buffer.concat([got, answer.body]);
            etag = answer.headers.get('etag') ?? '';
            assert.equal(etag, whole.headers.get('etag'));
            assert.ok(got.equals(whole.body.subarray(0, got.length)), `${got.length} of ${whole.body.length}`);
          }
          assert.ok(got.equals((await get()).body));
        }),
        { numRuns: 12, seed: 15 },
      );
    });

    test('bytes that were read before a file grew stay the same, and its tag tells of the growth', async (t) => {
      const { get, add } = await (await start(t, newDatabase, await openStore(t))).file();
      const first = await add(12);
      const before = await get();
      const etag = before.headers.get('etag') ?? '';
      assert.match(etag, /^"[\w-]{22}"$/);
      assert.equal((await get({ 'if-none-match': `"x", W/${etag}` })).status, 304);
      assert.equal((await get({ 'if-none-match': etag }, 'HEAD')).status, 304);
      assert.equal((await get({ 'if-match': etag })).status, 200);
      assert.equal((await get({ 'if-match': `W/${etag}` })).status, 412);
      assert.equal((await get({ range: 'bytes=2-', 'if-range': etag })).status, 206);
      await add(3);
      const after = await get();
      assert.ok(after.body.subarray(0, first).equals(before.body));
      const rest = await get({ range: `bytes=${first}-` });
      assert.ok(rest.body.equals(after.body.subarray(first)));
      assert.notEqual(after.headers.get('etag'), etag);
      assert.equal((await get({ 'if-none-match': etag })).status, 200);
      assert.deepEqual(
        [(await get({ range: 'bytes=2-', 'if-range': etag })).status, (await get({ 'if-match': etag })).status],
        [200, 412],
      );
      assert.equal((await get({ range: 'bytes=2-', 'if-range': `W/${after.headers.get('etag')}` })).status, 200);
    });
  });
