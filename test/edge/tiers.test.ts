/** Edges that fetch through others: the choice of a parent, admission, loops, and the stages at each end. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MAX_RESPONSE_HEAD_BYTES } from '../../src/edge/origin/response-limits.ts';
import { formatTier } from '../../src/edge/tier-fields.ts';
import { SITE_HOST } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { askOver, CDN_ID, createTestFleet } from '../support/edge/tiers.ts';
import { eventually } from '../support/eventually.ts';

const FRESH = { 'cache-control': 'max-age=60' };

test('a miss goes to the parent, which asks the origin once for all; a hit goes to nobody', async (t) => {
  const origin = await startOrigin(t, reply('whole', FRESH));
  const fleet = createTestFleet(t, [origin.port]);
  const parent = await fleet.start('par1', 'core', { listens: true });
  const [first, second] = [
    await fleet.start('fra1', 'eu', { parent: 'core' }),
    await fleet.start('fra2', 'eu', { parent: 'core' }),
  ];
  const miss = await first.get('/a?b=1');
  assert.deepEqual([miss.status, miss.body, miss.headers['x-cache']], [200, 'whole', 'MISS']);
  assert.equal(miss.headers['cache-status'], 'causeway-parent; fwd=miss; stored, causeway; fwd=miss; stored');
  assert.equal(miss.headers['causeway-fresh'], undefined);
  assert.equal((await first.get('/a?b=1')).headers['x-cache'], 'HIT');
  const other = await second.get('/a?b=1');
  assert.deepEqual([other.body, other.headers['x-cache']], ['whole', 'MISS']);
  assert.equal(other.headers['cache-status'], 'causeway-parent; hit, causeway; fwd=miss; stored');
  assert.equal(origin.requests.length, 1);
  const [asked] = origin.requests;
  assert.equal(asked?.target, '/a?b=1');
  assert.equal(asked?.headers['x-forwarded-for'], '127.0.0.1');
  assert.equal(asked?.headers['x-forwarded-host'], SITE_HOST);
  assert.equal(asked?.headers['cdn-loop'], `${CDN_ID}, ${CDN_ID}`);
  assert.equal(asked?.headers['causeway-tier'], undefined);
  await eventually('each viewer has its line', () => first.log.length === 2 && second.log.length === 1);
  assert.equal(parent.log.length, 0);
  assert.match(await parent.registry.metrics(), /causeway_tier_requests_total\{as="hit"\} 1/);
  assert.match(await first.registry.metrics(), /causeway_tier_fetches_total\{through="parent"\} 1/);
});

test('one object that many viewers of three edges want at once is fetched once', async (t) => {
  const waiting: (() => void)[] = [];
  const origin = await startOrigin(t, (request, response) => {
    waiting.push(() => reply('x'.repeat(200_000), FRESH)(request, response));
  });
  const fleet = createTestFleet(t, [origin.port]);
  await fleet.start('par1', 'core', { listens: true });
  const children = [];
  for (const id of ['fra1', 'fra2', 'fra3']) children.push(await fleet.start(id, 'eu', { parent: 'core' }));
  const answers = children.flatMap(({ get }) => Array.from({ length: 10 }, () => get('/large')));
  await eventually('it is at the origin', () => waiting.length === 1);
  for (const go of waiting) go();
  for (const { status, body } of await Promise.all(answers)) assert.deepEqual([status, body.length], [200, 200_000]);
  assert.equal(origin.requests.length, 1);
});

test('one object that three edges and 47 clients with certificates want at once is fetched once', async (t) => {
  const waiting: (() => void)[] = [];
  const origin = await startOrigin(t, (request, response) => {
    waiting.push(() => reply('x'.repeat(5000), FRESH)(request, response));
  });
  const fleet = createTestFleet(t, [origin.port]);
  const parent = await fleet.start('par1', 'core', { listens: true });
  const children = [];
  for (const id of ['fra1', 'fra2', 'fra3']) children.push(await fleet.start(id, 'eu', { parent: 'core' }));
  const clients = Array.from({ length: 47 }, async (_, n) => {
    const from = `client-${n}`;
    const keys = fleet.issue(from);
    fleet.tiers.set(from, { group: 'eu', parent: 'core', serials: [keys.serial] });
    const tier = formatTier({ from, hops: 1, siteId: 1, newerThanMs: undefined, scheme: 'http', client: '192.0.2.1' });
    const lines = ['GET /new HTTP/1.1', `Host: ${SITE_HOST}`, `CDN-Loop: ${CDN_ID}`, `Causeway-Tier: ${tier}`];
    return await askOver(await fleet.connect(parent.edge.tierPort ?? 0, keys), lines);
  });
  const viewers = children.map(({ get }) => get('/new'));
  await eventually('it is at the origin', () => waiting.length > 0);
  for (const go of waiting) go();
  for (const text of await Promise.all(clients)) assert.match(text, /^HTTP\/1\.1 200 [\s\S]*\r\n\r\nx{5000}$/);
  for (const { body } of await Promise.all(viewers)) assert.equal(body.length, 5000);
  assert.equal(origin.requests.length, 1);
});

test('what concerns viewers runs at the edge that they ask, and the origin at the parent', async (t) => {
  const origin = await startOrigin(t, reply('a'.repeat(2000), { ...FRESH, 'content-type': 'text/plain' }));
  const fleet = createTestFleet(t, [origin.port]);
  const parent = await fleet.start('par1', 'core', { listens: true });
  const child = await fleet.start('fra1', 'eu', { parent: 'core' });
  const referer = { mode: 'deny', allowsBlank: true, entries: ['evil.example'] } as const;
  for (const { put } of [parent, child]) put({ name: SITE_HOST, pageCompress: true, access: { referer } });
  const coded = await child.get('/text', { headers: ['Accept-Encoding', 'gzip'] });
  assert.equal(coded.headers['content-encoding'], 'gzip');
  assert.equal((await child.get('/text')).body, 'a'.repeat(2000));
  assert.equal(origin.requests.length, 1);
  assert.equal(origin.requests[0]?.headers['accept-encoding'], 'identity');
  const refused = await child.get('/text', { headers: ['Referer', 'http://evil.example/'] });
  assert.equal(refused.status, 403);
  // A rule of the parent alone, which may have the settings a moment later, refuses nothing.
  parent.put({ name: SITE_HOST, state: 'closed' });
  assert.equal((await child.get('/other')).status, 200);
});

test('an edge says beforehand which parents it would ask, and which of them are out', async (t) => {
  const origin = await startOrigin(t, reply('whole', { 'cache-control': 'no-store' }));
  const fleet = createTestFleet(t, [origin.port]);
  const parents = [
    await fleet.start('par1', 'core', { listens: true }),
    await fleet.start('par2', 'core', { listens: true }),
  ];
  const child = await fleet.start('fra1', 'eu', { parent: 'core' });
  const explain = async (method: string) => {
    const question = {
      method,
      scheme: 'http',
      host: SITE_HOST,
      target: '/a',
      headers: [],
      clientAddress: '192.0.2.1',
    } as const;
    const { steps, asksOrigin } = await child.edge.explain(question);
    assert.equal(asksOrigin, true);
    return steps.find(({ stage }) => stage === 'parents')?.found;
  };
  const both = await explain('GET');
  assert.match(both ?? '', /^1\. par[12], 2\. par[12]$/);
  assert.equal(await explain('POST'), undefined);
  const best = parents.find(({ edgeId }) => both?.startsWith(`1. ${edgeId}`));
  await best?.edge.close(0);
  for (let n = 0; n < 3; n++) await child.get('/a');
  assert.equal(
    await explain('GET'),
    both?.replace(`1. ${best?.edgeId}`, `1. ${best?.edgeId} (out: it has failed of late)`),
  );
});

describe('parents that fail', () => {
  test('the second best is asked, then the origin', async (t) => {
    const origin = await startOrigin(t, reply('whole', { 'cache-control': 'no-store' }));
    const fleet = createTestFleet(t, [origin.port]);
    const parents = [
      await fleet.start('par1', 'core', { listens: true }),
      await fleet.start('par2', 'core', { listens: true }),
    ];
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    const ask = async () => {
      for (let n = 0; n < 10; n++) assert.equal((await child.get(`/${n}`)).status, 200);
    };
    await ask();
    await parents[0]?.edge.close(0);
    await ask();
    const metrics = await child.registry.metrics();
    assert.match(metrics, /causeway_tier_fetches_total\{through="parent"\} 20/);
    await parents[1]?.edge.close(0);
    await ask();
    assert.match(await child.registry.metrics(), /causeway_tier_fetches_total\{through="origin"\} 10/);
    assert.equal(origin.requests.length, 30);
  });

  test('a parent that is killed under load costs no viewer an answer', async (t) => {
    const origin = await startOrigin(t, reply('whole', FRESH));
    const fleet = createTestFleet(t, [origin.port]);
    const parents = [
      await fleet.start('par1', 'core', { listens: true }),
      await fleet.start('par2', 'core', { listens: true }),
    ];
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    let next = 0;
    let killed: Promise<void> | undefined;
    const viewer = async () => {
      while (next < 400) {
        const n = next++;
        if (n === 100) killed = parents[0]?.edge.close(0);
        const { status, body } = await child.get(`/${n}`);
        assert.deepEqual([status, body], [200, 'whole'], `request ${n}`);
      }
    };
    await Promise.all(Array.from({ length: 20 }, viewer));
    await killed;
    assert.match(await child.registry.metrics(), /causeway_tier_failures_total [1-9]/);
  });

  test("an error of the origin is the parent's answer, which is final", async (t) => {
    const origin = await startOrigin(t, reply('broken', {}, 500));
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    const { status, body } = await child.get('/');
    assert.deepEqual([status, body, origin.requests.length], [500, 'broken', 1]);
    await origin.stop();
    const unreached = await child.get('/b');
    assert.equal(unreached.status, 502);
    assert.match(await child.registry.metrics(), /causeway_tier_failures_total 0/);
  });

  test('a request that finds no connection to its parent free goes to the origin', async (t) => {
    const waiting: (() => void)[] = [];
    const origin = await startOrigin(t, (request, response) => {
      waiting.push(() => reply('slow', FRESH)(request, response));
    });
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('par1', 'core', { listens: true });
    const limits = { maxOriginConnections: 8, originWaitMs: 50 };
    const child = await fleet.start('fra1', 'eu', { parent: 'core', limits });
    // More than one client may have of the connections to the parent, and fewer than of those to both.
    const answers = Array.from({ length: 8 }, (_, n) => child.get(`/${n}`));
    await eventually('all are at the origin', () => waiting.length === 8);
    for (const go of waiting) go();
    for (const { status, body } of await Promise.all(answers)) assert.deepEqual([status, body], [200, 'slow']);
    assert.match(await child.registry.metrics(), /causeway_tier_fetches_total\{through="origin"\} [1-9]/);
  });

  test('an origin whose bodies break off at once, or whose heads are large, does not put its parent out', async (t) => {
    const large = { ...FRESH, 'x-large': 'x'.repeat(MAX_RESPONSE_HEAD_BYTES - 300) };
    const origin = await startOrigin(t, (request, response) => {
      if (request.target === '/well') return reply('whole', FRESH)(request, response);
      if (request.target.startsWith('/large')) return reply('whole', large)(request, response);
      response.writeHead(200, { ...FRESH, 'content-length': '10' });
      response.flushHeaders();
      setImmediate(() => response.destroy());
    });
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    for (const path of ['/0', '/1', '/2', '/large0', '/large1', '/large2'])
      await child.get(path).catch(() => undefined); // the answer may be cut
    const answer = await child.get('/well');
    assert.equal(answer.body, 'whole');
    assert.match(answer.headers['cache-status'] ?? '', /^causeway-parent; fwd=miss/);
  });

  test('a domain whose origins do not answer the parent in time does not put it out', async (t) => {
    const origin = await startOrigin(t, (request, response) => {
      if (request.target === '/well') reply('whole', FRESH)(request, response);
    });
    const fleet = createTestFleet(t, [origin.port]);
    await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core', limits: { firstByteMs: 1_000 } });
    const slow = await Promise.all(['/0', '/1', '/2'].map((path) => child.get(path)));
    for (const { status } of slow) assert.equal(status, 504);
    assert.match(await child.registry.metrics(), /causeway_tier_failures_total 3/);
    const answer = await child.get('/well');
    assert.match(answer.headers['cache-status'] ?? '', /^causeway-parent; fwd=miss/);
  });

  test('a parent that has another domain for the host is passed over', async (t) => {
    const origin = await startOrigin(t, reply('whole'));
    const fleet = createTestFleet(t, [origin.port]);
    const parent = await fleet.start('par1', 'core', { listens: true });
    const child = await fleet.start('fra1', 'eu', { parent: 'core' });
    parent.remove(SITE_HOST);
    assert.equal((await child.get('/')).body, 'whole');
    assert.match(await child.registry.metrics(), /causeway_tier_failures_total 1/);
  });
});
