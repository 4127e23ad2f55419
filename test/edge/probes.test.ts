/** Probes over real sockets; the prober's clock runs fast. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { Registry } from 'prom-client';
import { createGuard } from '../../src/edge/origin/guard.ts';
import type { ProbeReport, ProbeTarget } from '../../src/edge/origin/probe-schedule.ts';
import { type ProberOptions, startProber } from '../../src/edge/origin/prober.ts';
import { createLogger } from '../../src/lib/logger.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin, startRawOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs } from '../support/runner/needs.ts';

type Cleanup = { after(work: () => unknown): void };

/** Factor between the prober's clock and the real one. */
const HASTE = 25;

describe('the prober', () => {
  test('a port without a listener is down, a port with one is up, and the workers that marked it hear of it', async (t) => {
    const dead = await freePort();
    const origin = await startRawOrigin(t, () => undefined);
    const { prober, reports, registry } = startTestProber(t);
    prober.note([
      { target: target(dead), isPassedOver: false },
      { target: target(origin.port), isPassedOver: true },
    ]);
    await eventually(
      'both told',
      () => lastOf(reports)?.down.length === 1 && reports.some(({ up }) => up.length === 1),
    );
    assert.deepEqual(lastOf(reports)?.down, [`127.0.0.1:${dead}`]);
    assert.deepEqual(
      reports.flatMap(({ up }) => up),
      [`127.0.0.1:${origin.port}`],
    );
    assert.equal(origin.heads.length, 0); // not a byte was sent
    const metrics = await registry.metrics();
    assert.match(metrics, /causeway_origins_probed 2/);
    assert.match(metrics, /causeway_origins_down 1/);
    assert.match(metrics, /causeway_origin_probes_total{kind="connect",outcome="up"} [1-9]/);
  });

  test('a monitor URL is requested with its Host; 2xx and 3xx are up, everything else is down', async (t) => {
    const statuses = new Map([
      ['/200', 200],
      ['/204', 204],
      ['/302', 302],
      ['/404', 404],
      ['/500', 500],
    ]);
    const origin = await startOrigin(t, (request, response) => {
      reply('x'.repeat(100), { location: 'http://127.0.0.1:1/' }, statuses.get(request.target))(request, response);
    });
    const broken = await startRawOrigin(t, (socket) => socket.end('no http at all\r\n\r\n'));
    const { prober, reports } = startTestProber(t);
    const all = [...statuses.keys()].map((path) => monitored(origin.port, path));
    prober.note([...all, monitored(broken.port, '/')].map((item) => ({ target: item, isPassedOver: false })));
    await eventually('three are down', () => lastOf(reports)?.down.length === 3);
    const down = ['/404', '/500'].map((path) => monitored(origin.port, path).key);
    assert.deepEqual(new Set(lastOf(reports)?.down), new Set([...down, monitored(broken.port, '/').key]));
    await eventually('all were asked', () => new Set(origin.requests.map((seen) => seen.target)).size === 5);
    const [seen] = origin.requests;
    assert.deepEqual(
      [seen?.method, seen?.headers['host'], seen?.headers['cdn-loop']],
      ['GET', 'source.example', 'causeway-1f2e3d4c'],
    );
    origin.answer(reply('fine again'));
    await eventually('up again', () => lastOf(reports)?.down.length === 1);
  });

  test('an address that the guard refuses is not connected to, and not asked a second time', async (t) => {
    const own = await startRawOrigin(t, () => undefined);
    const { prober, registry } = startTestProber(
      t,
      createGuard({ allow: ['127.0.0.0/8'], refuse: [{ host: '::', port: own.port }] }),
    );
    prober.note([{ target: target(own.port), isPassedOver: true }]);
    const metrics = () => registry.metrics();
    await eventually('refused', async () => /outcome="forbidden"} 1/.test(await metrics()));
    await eventually('forgotten', async () => /causeway_origins_probed 0/.test(await metrics()));
    assert.equal(own.connections(), 0);
  });
});

test('probes in flight are at most 500, however many origins are due; the next begins when one ends', async (t) => {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const waiting: (() => void)[] = [];
  const resolve = () => new Promise<never>((_, reject) => waiting.push(() => reject(new Error('no such name'))));
  const { prober, registry } = startTestProber(t, undefined, resolve);
  prober.note(Array.from({ length: 600 }, (_, n) => ({ target: named(`origin-${n}.example`), isPassedOver: true })));
  for (let tick = 0; tick < 50; tick++) t.mock.timers.tick(100);
  assert.equal(waiting.length, 500);
  waiting[0]?.();
  await eventually('one has ended', async () => /kind="connect",outcome="down"} 1/.test(await registry.metrics()));
  for (let tick = 0; tick < 3; tick++) t.mock.timers.tick(100);
  assert.equal(waiting.length, 501);
  for (const end of waiting) end();
});

describe('an edge and its prober', () => {
  test('an origin that is down is skipped from the first request on; when it is back it has its turn again', async (t) => {
    const primary = await startOrigin(t, reply('primary'));
    const backup = await startOrigin(t, reply('backup'));
    const edge = await startTestEdge(t, { primary: loopback([primary.port]), backup: loopback([backup.port]) });
    assert.equal((await edge.get('/')).body, 'primary');
    assert.deepEqual(
      edge.edge.takeOriginUses().map(({ target: used, isPassedOver }) => [used.key, isPassedOver]),
      [[`127.0.0.1:${primary.port}`, false]],
    );
    edge.edge.applyOriginProbes({ down: [`127.0.0.1:${primary.port}`], up: [] });
    assert.equal((await edge.get('/')).body, 'backup');
    const uses = edge.edge.takeOriginUses().map(({ target: used, isPassedOver }) => `${used.key} ${isPassedOver}`);
    assert.deepEqual(uses.sort(), [`127.0.0.1:${primary.port} true`, `127.0.0.1:${backup.port} false`].sort());
    edge.edge.applyOriginProbes({ down: [], up: [] });
    assert.equal((await edge.get('/')).body, 'primary');
  });

  test('an origin that requests marked down is up with the first connection of a probe', async (t) => {
    const port = await freePort();
    const backup = await startOrigin(t, reply('backup'));
    const edge = await startTestEdge(t, { primary: loopback([port]), backup: loopback([backup.port]) });
    for (let i = 0; i < 3; i++) assert.equal((await edge.get('/')).body, 'backup');
    const failures = async () =>
      /origin_failures_total{reason="originConnect"} (\d+)/.exec(await edge.registry.metrics())?.[1];
    assert.equal(await failures(), '3');
    await edge.get('/');
    assert.equal(await failures(), '3'); // passed over
    edge.edge.applyOriginProbes({ down: [], up: [`127.0.0.1:${port}`] });
    await edge.get('/');
    assert.equal(await failures(), '4'); // asked again
  });

  test('the monitor URL of one site says nothing about another site at the same address', async (t) => {
    const origin = await startOrigin(t, reply('origin'));
    const backup = await startOrigin(t, reply('backup'));
    const edge = await startTestEdge(t);
    const origins = { ...NO_ORIGINS, primary: loopback([origin.port]), backup: loopback([backup.port]) };
    edge.put({ name: SITE_HOST, origins: { ...origins, probePath: '/status?x' } });
    edge.put({ name: 'other.example.com', origins });
    edge.put({ name: '*.wild.example', origins: { ...origins, probePath: '/status', probeHost: 'm.wild.example' } });
    edge.put({ name: '*.bare.example', origins: { ...origins, probePath: '/status' } });
    const hosts = [SITE_HOST, 'other.example.com', 'a.wild.example', 'a.bare.example'];
    for (const host of hosts) assert.equal((await edge.get('/', { host })).body, 'origin');
    const address = `127.0.0.1:${origin.port}`;
    assert.deepEqual(
      edge.edge.takeOriginUses().map(({ target: used }) => used.key),
      [`${address} http://${SITE_HOST}/status?x`, address, `${address} http://m.wild.example/status`],
    );
    edge.edge.applyOriginProbes({ down: [`${address} http://${SITE_HOST}/status?x`], up: [] });
    const bodies = await Promise.all(hosts.map(async (host) => (await edge.get('/', { host })).body));
    assert.deepEqual(bodies, ['backup', 'origin', 'origin', 'origin']);
  });
});

test('a monitor URL may be asked by TLS', needs('openssl'), async (t) => {
  const origin = await startOrigin(t, reply('secure'), { tls: createAuthority(t).issue(['source.example']) });
  const { prober, reports } = startTestProber(t);
  const { destination, request } = monitored(origin.port, '/');
  const secure = {
    key: 'by-tls',
    destination: { ...destination, serverName: 'source.example' },
    ...(request && { request }),
  };
  prober.note([{ target: secure, isPassedOver: true }]);
  await eventually('up', () => reports.some(({ up }) => up.includes('by-tls')));
  assert.equal(origin.requests[0]?.serverName, 'source.example');
});

function startTestProber(
  t: Cleanup,
  guard = createGuard({ allow: ['127.0.0.0/8'], refuse: [] }),
  resolve?: ProberOptions['resolve'],
) {
  const reports: ProbeReport[] = [];
  const registry = new Registry();
  const prober = startProber({
    cdn: { id: 'causeway-1f2e3d4c' },
    guard,
    ...(resolve && { resolve }),
    monotonic: () => performance.now() * HASTE,
    random: Math.random,
    onReport: (report) => void reports.push(report),
    registry,
    log: createLogger({ level: 'silent', name: 'test' }),
  });
  t.after(() => prober[Symbol.dispose]());
  return { prober, reports, registry };
}

function lastOf(reports: readonly ProbeReport[]): ProbeReport | undefined {
  return reports.at(-1);
}

function target(port: number): ProbeTarget {
  const destination = { host: '127.0.0.1', port, isAddress: true, serverName: undefined };
  return { key: `127.0.0.1:${port}`, destination };
}

function named(host: string): ProbeTarget {
  return { key: `${host}:80`, destination: { host, port: 80, isAddress: false, serverName: undefined } };
}

function monitored(port: number, path: string): ProbeTarget {
  const { key, destination } = target(port);
  return { key: `${key} http://source.example${path}`, destination, request: { host: 'source.example', target: path } };
}
