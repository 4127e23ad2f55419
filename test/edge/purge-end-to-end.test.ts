/** Purges and prefetches with every process real: two machines, each with two workers that cache in memory and on disk. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import type { Client } from '#client/transport.ts';
import type { CallOf } from '#contract/operations.ts';
import { type ScriptedOrigin, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { temporaryFolder } from '../support/temporary.ts';

const HOST = 'www.example.com';
const SETTINGS = {
  CAUSEWAY_EDGE_WORKERS: '2',
  CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
  CAUSEWAY_LOCALE: 'en',
};
/** Each on a connection of its own, so that the kernel spreads them over the workers. */
const VIEWERS = 12;
const LANGUAGES = ['en', 'de'];
const ANSWER_LIMIT_MS = 20_000;

test('purges and prefetches of two machines', async (t) => {
  const world = await startWorld(t);
  await t.test(
    'a purge reaches every edge, worker and variant, also on disk, and nothing else; restarts do not undo it',
    () => purgeAndRestart(world),
  );
  await t.test('an edge that is away when a purge is made has applied it when it acknowledges it', () =>
    purgeWhileAway(world),
  );
  await t.test("a prefetch is in every edge's store before a viewer asks, and reports what cannot be fetched", () =>
    prefetch(world),
  );
});

/** Workers write what they have stored every 100 ms; then the others see it. */
const SHARED_MS = 1_500;

async function purgeAndRestart(world: World): Promise<void> {
  const paths = ['/a.jpg', '/a.jpg?v=1', '/images', '/images/1.jpg', '/images/deep/2.jpg'];
  assert.deepEqual(await versions(world, paths), ['1']);
  await delay(SHARED_MS);
  world.version = 2;
  assert.deepEqual(await versions(world, paths), ['1'], 'it is cached');

  await purge(world, { urls: [`https://${HOST}:8443/%61.jpg?v=1`] });
  assert.deepEqual(await versions(world, ['/a.jpg?v=1']), ['2']);
  world.version = 3;
  await purge(world, { directories: [`http://${HOST}/images/`] });
  assert.deepEqual(await versions(world, ['/images/1.jpg', '/images/deep/2.jpg']), ['3']);
  assert.deepEqual(await versions(world, ['/a.jpg', '/images']), ['1']);
  assert.deepEqual(await versions(world, ['/a.jpg?v=1']), ['2']);

  world.version = 4;
  await world.restart();
  assert.deepEqual(await versions(world, ['/a.jpg', '/images']), ['1'], 'the disk has kept it');
  await purge(world, { domain_id: world.domainId });
  await world.killWorkers();
  assert.deepEqual(await versions(world, ['/a.jpg']), ['4']);
  await world.restart();
  world.version = 5;
  assert.deepEqual(await versions(world, paths.slice(1)), ['5']);
  assert.deepEqual(await versions(world, ['/a.jpg']), ['4'], 'what came after the purge stays');
}

async function purgeWhileAway(world: World): Promise<void> {
  world.version = 11;
  assert.deepEqual(await versions(world, ['/away.jpg']), ['11']);
  world.version = 12;
  await world.second.stop();
  const { task_id } = await world.client.call('cache.purge', { urls: [`http://${HOST}/away.jpg`] });
  await eventually('the edge that is there has done it', async () => {
    const { state, edges } = await world.client.call('cache.getTask', { task_id });
    assert.equal(state, 'running', 'the other was there a moment ago');
    return edges.map((edge) => `${edge.edge} ${edge.state}`).join() === 'local done,second waiting';
  });
  await world.startSecond();
  await eventually('it says so', async () => {
    const { edges } = await world.client.call('cache.getTask', { task_id });
    return edges.map((edge) => `${edge.edge} ${edge.state}`).join() === 'local done,second done';
  });
  assert.equal(await finished(world.client, task_id), 'done');
  assert.deepEqual(await versions(world, ['/away.jpg']), ['12']);
}

async function prefetch(world: World): Promise<void> {
  const paths = ['/early.jpg', '/b.jpg?x', '/missing', '/private'];
  world.version = 21;
  // A task does not wait for an edge that is not ready.
  await eventually(
    'both edges are ready',
    async () => (await world.client.call('edgeOperator.list', { status: 'ready' })).total === 2,
  );
  const urls = paths.map((path) => `http://${HOST}${path}`);
  const { task_id } = await world.client.call('cache.prefetch', { urls });
  assert.equal(await finished(world.client, task_id), 'failed');
  const { items, edges } = await world.client.call('cache.getTask', { task_id });
  assert.deepEqual(
    edges.map(({ edge, state }) => [edge, state]),
    [
      ['local', 'failed'],
      ['second', 'failed'],
    ],
  );
  assert.deepEqual(
    items.map(({ item, state, done, failed }) => [item, state, done, failed]),
    [
      [urls[0], 'done', 2, 0],
      [urls[1], 'done', 2, 0],
      [urls[2], 'failed', 0, 2],
      [urls[3], 'failed', 0, 2],
    ],
  );
  for (const item of items.slice(2)) {
    assert.deepEqual(
      item.failures.map(({ edge }) => edge),
      ['local', 'second'],
    );
    for (const { reason } of item.failures) assert.match(reason, /^[a-zA-Z]+$/);
  }
  await delay(SHARED_MS);
  world.version = 22;
  assert.deepEqual(await versions(world, ['/early.jpg', '/b.jpg?x'], ['']), ['21']);
  assert.equal(world.origin.requests.filter(({ target }) => target === '/early.jpg').length, 2, 'once for each edge');

  await world.origin.stop();
  const again = await world.client.call('cache.prefetch', {
    urls: [`http://${HOST}/c.jpg`, `http://${HOST}/early.jpg`],
  });
  assert.equal(await finished(world.client, again.task_id), 'failed');
  const later = await world.client.call('cache.getTask', { task_id: again.task_id });
  assert.deepEqual(
    later.items.map(({ state }) => state),
    ['failed', 'done'],
    'an origin that is down shows; what is stored and fresh is not fetched again',
  );
}

/** Two edges with a domain in force, and an origin whose answers tell their version. */
interface World {
  readonly origin: ScriptedOrigin;
  version: number;
  first: RunningService;
  second: RunningService;
  client: Client;
  /** Id of the one domain. */
  domainId: string;
  startSecond(): Promise<void>;
  restart(): Promise<void>;
  /** SIGKILL; resolves when others are in their place. */
  killWorkers(): Promise<void>;
}

async function startWorld(t: TestContext): Promise<World> {
  const folder = temporaryFolder(t);
  const dataDir = join(folder, 'first');
  const startFirst = () => startService(t, { settings: SETTINGS, dataDir });
  const startEdge = () =>
    startService(t, {
      dataDir: join(folder, 'second'),
      settings: {
        ...SETTINGS,
        CAUSEWAY_ROLES: 'edge',
        CAUSEWAY_EDGE_ID: 'second',
        CAUSEWAY_FEED_SOCKET: join(dataDir, 'run', 'feed.sock'),
      },
    });
  const origin = await startOrigin(t, ({ target }, response) => {
    if (target === '/missing') response.writeHead(503).end();
    else if (target === '/private') response.writeHead(200, { 'cache-control': 'private' }).end('mine');
    else {
      response.writeHead(200, { 'cache-control': 'max-age=3600', vary: 'Accept-Language' });
      response.end(String(world.version));
    }
  });
  const [first, second] = await Promise.all([startFirst(), startEdge()]);
  const world: World = {
    origin,
    version: 1,
    first,
    second,
    client: clientOf(first),
    domainId: '',
    async startSecond() {
      world.second = await startEdge();
    },
    async restart() {
      await Promise.all([world.first.stop(), world.second.stop()]);
      [world.first, world.second] = await Promise.all([startFirst(), startEdge()]);
      world.client = clientOf(world.first);
    },
    async killWorkers() {
      await Promise.all([killWorkersOf(world.first), killWorkersOf(world.second)]);
    },
  };
  const data = `127.0.0.1:${origin.port}`;
  world.domainId = (await world.client.call('domain.add', { domain: HOST, cdn_type: '1', data })).domain_id;
  // A task shows every edge that has reported: then both have the domain too, for it came before.
  const { task_id } = await world.client.call('cache.purge', { domain_id: world.domainId });
  await eventually('both edges have the domain', async () => {
    const { edges, state } = await world.client.call('cache.getTask', { task_id });
    return edges.length === 2 && state === 'done';
  });
  return world;
}

function clientOf({ controlUrl, token }: RunningService): Client {
  return createClient({ baseUrl: controlUrl, accessToken: token });
}

async function killWorkersOf(service: RunningService): Promise<void> {
  const names = ['edge-worker-1', 'edge-worker-2'];
  const before = service.pids();
  for (const name of names) process.kill(before[name] ?? 0, 'SIGKILL');
  await eventually('others are in their place and answer', async () => {
    const now = service.pids();
    if (names.some((name) => now[name] === undefined || now[name] === before[name])) return false;
    const answers = Array.from({ length: VIEWERS }, () => get(service, '/healthy', 'en'));
    return (await Promise.all(answers)).length === VIEWERS;
  });
}

/** Asks for it and waits until every edge has done it; the domain's status does not move. */
async function purge({ client, domainId }: World, call: CallOf<'cache.purge'>): Promise<void> {
  const { task_id } = await client.call('cache.purge', call);
  assert.equal((await client.call('domain.get', { domain_id: domainId })).domain_status, 2);
  // An edge that was started anew counts when it has reported.
  await eventually('both have done it', async () => {
    const { edges } = await client.call('cache.getTask', { task_id });
    return edges.length === 2 && edges.every(({ state }) => state === 'done');
  });
  assert.equal(await finished(client, task_id), 'done');
}

function finished(client: Client, taskId: string): Promise<string> {
  return eventually(`task ${taskId} ends`, async () => {
    const { state } = await client.call('cache.getTask', { task_id: taskId });
    return state !== 'running' && state;
  });
}

/** The different versions that viewers of these paths are served, by either edge, in any of the languages. */
async function versions(world: World, paths: readonly string[], languages = LANGUAGES): Promise<string[]> {
  const seen = new Set<string>();
  for (const service of [world.first, world.second]) {
    for (const path of paths) {
      for (const language of languages) {
        const answers = Array.from({ length: VIEWERS }, () => get(service, path, language));
        for (const body of await Promise.all(answers)) seen.add(body);
      }
    }
  }
  return [...seen].sort();
}

function get({ edgeUrl }: RunningService, path: string, language: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = { host: HOST, ...(language !== '' && { 'accept-language': language }) };
    const signal = AbortSignal.timeout(ANSWER_LIMIT_MS);
    const sent = request(`${edgeUrl}${path}`, { headers, agent: false, signal }, (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text) => {
        body += text;
      });
      response.on('end', () => resolve(body)).on('error', reject);
    });
    sent.on('error', reject).end();
  });
}
