/** Lifetimes and purges over two tiers. */
import assert from 'node:assert/strict';
import { type AddressInfo, createServer } from 'node:net';
import { describe, test } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import fc from 'fast-check';
import { formatDate } from '../../src/http/dates.ts';
import type { SiteSpec } from '../../src/sites/spec.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { createTestFleet } from '../support/edge/tiers.ts';

/** Time stands still unless a test moves it, however busy the machine is. */
const START = Date.now();

const POLICIES: SiteSpec['caching'] = {
  followsOrigin: false,
  prefixFirst: false,
  policies: [{ match: 'prefix', content: '/', priority: 1, isCached: true, lifetimeSeconds: 60 }],
};

const at = ({ body, headers }: { readonly body: string; readonly headers: Readonly<Record<string, string>> }) => [
  body,
  headers['x-cache'],
];

describe('a lifetime is counted once over both tiers', () => {
  const rows: readonly (readonly [
    what: string,
    headers: Record<string, string>,
    caching: SiteSpec['caching'] | undefined,
  ])[] = [
    ['by the origin', { 'cache-control': 'max-age=60' }, undefined],
    ['by a policy of the site', { 'cache-control': 'max-age=86400' }, POLICIES],
  ];
  for (const [what, headers, caching] of rows)
    test(`a lifetime of 60 s ${what} ends after 60 s`, async (t) => {
      let body = 'old';
      let ahead = 0;
      const clock = () => START + ahead;
      const origin = await startOrigin(t, (request, response) =>
        reply(body, { ...headers, date: formatDate(clock()) })(request, response),
      );
      const fleet = createTestFleet(t, [origin.port]);
      const parent = await fleet.start('par1', 'core', { listens: true, clock });
      const child = await fleet.start('fra1', 'eu', { parent: 'core', clock });
      if (caching !== undefined) for (const { put } of [parent, child]) put({ name: SITE_HOST, caching });
      await parent.get('/a'); // the parent has it for 40 s before the child asks
      ahead += 40_000;
      const asked = await child.get('/a');
      assert.deepEqual([asked.body, asked.headers['x-cache']], ['old', 'MISS']);
      assert.match(asked.headers['age'] ?? '', /^4[01]$/); // `Date` has whole seconds
      body = 'new';
      ahead += 18_000;
      assert.deepEqual(at(await child.get('/a')), ['old', 'HIT']);
      ahead += 4_000;
      assert.equal((await child.get('/a')).body, 'new');
    });

  test('a confirmed response has the rest of the lifetime at the parent', async (t) => {
    let ahead = 0;
    const clock = () => START + ahead;
    const origin = await startOrigin(t, (request, response) => {
      const headers = { etag: '"a"', 'cache-control': 'max-age=60', date: formatDate(clock()) };
      if (request.headers['if-none-match'] === '"a"') reply('', headers, 304)(request, response);
      else reply('body', headers)(request, response);
    });
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true, clock });
    const child = await fleet.start('fra1', 'eu', { parent: 'core', clock });
    await child.get('/a');
    ahead += 61_000;
    await parent.get('/a'); // validated there
    ahead += 30_000;
    const confirmed = await child.get('/a');
    assert.deepEqual(at(confirmed), ['body', 'REVALIDATED']);
    assert.equal(origin.requests.length, 2);
    ahead += 28_000;
    assert.deepEqual(at(await child.get('/a')), ['body', 'HIT']);
    ahead += 3_000;
    assert.deepEqual(at(await child.get('/a')), ['body', 'REVALIDATED']);
    assert.equal(origin.requests.length, 3);
  });

  test('a parent validates a stale response before it answers an edge, and one for a broken origin is not stored', async (t) => {
    let body = 'old';
    let ahead = 0;
    const clock = () => START + ahead;
    const stale = { 'cache-control': 'max-age=10, stale-while-revalidate=600, stale-if-error=600' };
    const origin = await startOrigin(t, (request, response) =>
      reply(body, { ...stale, date: formatDate(clock()) })(request, response),
    );
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true, clock });
    const child = await fleet.start('fra1', 'eu', { parent: 'core', clock });
    await parent.get('/a');
    ahead += 20_000;
    body = 'new';
    assert.deepEqual(at(await child.get('/a')), ['new', 'MISS']);
    await parent.get('/b');
    ahead += 20_000;
    await origin.stop();
    assert.deepEqual(at(await child.get('/b')), ['new', 'MISS parent']);
    assert.deepEqual(at(await child.get('/b')), ['new', 'MISS parent']);
  });
});

test('an edge keeps a stale response while no origin answers its parent, which has nothing', async (t) => {
  let ahead = 0;
  const clock = () => START + ahead;
  const origin = await startOrigin(t, (request, response) =>
    reply('old', { 'cache-control': 'max-age=10', date: formatDate(clock()) })(request, response),
  );
  const fleet = createTestFleet(t, [origin.port]);
  const parent = await fleet.start('par1', 'core', { listens: true, clock });
  const child = await fleet.start('fra1', 'eu', { parent: 'core', clock });
  await child.get('/a');
  ahead += 20_000;
  parent.purge({ kind: 'site', target: '' });
  await origin.stop();
  assert.deepEqual(at(await child.get('/a')), ['old', 'STALE']);
});

/** Waits for the next millisecond: a request in that of a purge counts as earlier. */
async function nextInstant(): Promise<void> {
  for (const at = Date.now(); Date.now() === at; ) await setImmediate();
}

describe('purges over two tiers', () => {
  const ALL = { kind: 'site', target: '' } as const;

  test('an edge that has a purge gets nothing older from a parent that has not', async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) =>
      reply(`v${version}`, { 'cache-control': 'max-age=600' })(request, response),
    );
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    assert.equal((await child.get('/a')).body, 'v1');
    version = 2;
    child.purge(ALL);
    await nextInstant();
    const between = await child.get('/a');
    assert.deepEqual([between.body, between.headers['x-cache']], ['v2', 'MISS']);
    assert.deepEqual(at(await child.get('/a')), ['v2', 'HIT']);
    parent.purge(ALL);
    assert.deepEqual(at(await child.get('/a')), ['v2', 'HIT']);
    assert.equal(origin.requests.length, 2);
  });

  test('a purge that arrives while a parent fails holds for the next one that is asked', async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) =>
      reply(`v${version}`, { 'cache-control': 'max-age=600' })(request, response),
    );
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    let asked = 0;
    const failing = createServer((socket) => {
      asked++;
      version = 2;
      child.purge(ALL);
      socket.on('error', () => undefined).destroy();
    });
    await new Promise<void>((resolve) => failing.listen(0, '127.0.0.1', resolve));
    t.after(() => failing.close());
    // `as`: a server that listens on an address.
    const { port } = failing.address() as AddressInfo;
    fleet.tiers.set('par2', { group: 'core', address: `127.0.0.1:${port}`, serials: ['00'] });
    fleet.recheck();
    let path = '';
    for (let n = 0; asked === 0; n++) {
      path = `/${n}`;
      await parent.get(path);
      await nextInstant();
      await child.get(path);
    }
    assert.equal((await child.get(path)).body, 'v2');
  });

  test('an unsafe request has the object fetched anew from the origin, not from the parent', async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) =>
      reply(`v${version}`, { 'cache-control': 'max-age=600' })(request, response),
    );
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    await child.get('/a');
    version = 2;
    await child.get('/a', { method: 'POST', body: 'x' });
    await nextInstant();
    assert.deepEqual(at(await child.get('/a')), ['v2', 'MISS']);
    assert.deepEqual(at(await child.get('/a')), ['v2', 'HIT']);
  });

  test('whatever the order in which tiers get purges, an edge that has one answers with nothing older', async (t) => {
    let version = 0;
    const origin = await startOrigin(t, (request, response) =>
      reply(`${version}`, { 'cache-control': 'max-age=600' })(request, response),
    );
    const fleet = createTestFleet(t, [origin.port]);
    const parents = [
      await fleet.start('par1', 'core', { listens: true }),
      await fleet.start('par2', 'core', { listens: true }),
    ];
    const children = [
      await fleet.start('fra1', 'eu', { parent: 'core' }),
      await fleet.start('fra2', 'eu', { parent: 'core' }),
    ];
    const all = [...parents, ...children];
    const step = fc.oneof(
      { weight: 1, arbitrary: fc.constant({ kind: 'publish' } as const) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('deliver' as const), to: fc.nat(all.length - 1) }) },
      { weight: 3, arbitrary: fc.record({ kind: fc.constant('ask' as const), of: fc.nat(children.length - 1) }) },
    );
    let runs = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 5, maxLength: 15 }), async (steps) => {
        const path = `/${runs++}`;
        const target = SITE_HOST + path;
        /** Version at each purge, and how many of them each edge has. */
        const purges: number[] = [];
        const has = all.map(() => 0);
        for (const each of steps) {
          if (each.kind === 'publish') {
            version++;
            purges.push(version);
          } else if (each.kind === 'deliver') {
            const next = purges[has[each.to] ?? 0];
            if (next === undefined) continue;
            all[each.to]?.purge({ kind: 'url', target });
            has[each.to] = (has[each.to] ?? 0) + 1;
          } else {
            const answer = await children[each.of]?.get(path);
            const known = purges[(has[parents.length + each.of] ?? 0) - 1] ?? 0;
            assert.ok(Number(answer?.body) >= known, `${path}: ${answer?.body} after the purge of ${known}`);
          }
        }
        for (const [index, edge] of all.entries())
          for (const _ of purges.slice(has[index])) edge.purge({ kind: 'url', target });
        for (const child of children) assert.equal(Number((await child.get(path)).body) >= (purges.at(-1) ?? 0), true);
      }),
      { numRuns: 60, seed: 42 },
    );
  });
});
