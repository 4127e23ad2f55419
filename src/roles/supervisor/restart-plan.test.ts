import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '#config';
import { planRestart } from './restart-plan.ts';

test('settings of workers and of live streams are taken, and the others wait for a restart of the service', () => {
  const rows: [changed: Record<string, string>, taken: string[], pending: string[], renewsFeed: boolean][] = [
    [{}, [], [], false],
    [{ CACHE_MEMORY: '1MB', CACHE_DISK_SIZE: '1MB' }, ['cache-disk-size', 'cache-memory'], [], false],
    [{ DRAIN_SECONDS: '5', LOG_SPOOL: '64MB' }, ['drain-seconds', 'log-spool'], [], false],
    [{ LIVE_MEMORY: '64MB', HEALTH_ALLOW: '10.0.0.0/8' }, ['health-allow', 'live-memory'], [], false],
    [{ ORIGIN_ALLOW: '10.0.0.0/8', STAT_SECONDS: '9' }, ['origin-allow', 'stat-seconds'], ['origin-allow'], true],
    [{ EDGE_HTTP_LISTEN: '[::]:80', CACHE_DISK: '/srv' }, [], ['cache-disk', 'edge-http-listen'], false],
    [{ EDGE_WORKERS: '9', LOCALE: 'en' }, [], ['edge-workers', 'locale'], false],
    [{ URL: 'http://127.0.0.1:1', TOKEN: 'secret' }, [], [], false],
  ];
  const given = configOf({});
  const running = { ...given, edgeHttpListen: { host: '::', port: 4711 } };
  for (const [changed, taken, pending, renewsFeed] of rows) {
    const next = configOf(changed);
    const plan = planRestart({ given, running }, next);
    assert.deepEqual(
      [plan.taken, plan.pending, plan.renewsFeed],
      [taken, pending, renewsFeed],
      JSON.stringify(changed),
    );
    assert.deepEqual(plan.running.edgeHttpListen, running.edgeHttpListen);
    assert.deepEqual(planRestart(plan, next).taken, []);
  }
  assert.equal(planRestart({ given, running }, configOf({ CACHE_MEMORY: '1MB' })).running.cacheMemoryBytes, 2 ** 20);
});

test('a setting of edge workers is in force everywhere if no other part uses it', () => {
  const edge = { ROLES: 'edge', EDGE_ID: 'a', FEED_SOCKET: '/srv/feed.sock' };
  const given = configOf(edge);
  const { pending } = planRestart({ given, running: given }, configOf({ ...edge, ORIGIN_ALLOW: '10.0.0.0/8' }));
  assert.deepEqual(pending, []);
});

function configOf(settings: Record<string, string>) {
  const env = Object.fromEntries(Object.entries(settings).map(([name, value]) => [`CAUSEWAY_${name}`, value]));
  const loaded = loadConfig({ env, flags: {}, cwd: '/srv' });
  if (loaded.kind === 'problems') assert.fail(JSON.stringify(loaded.problems));
  return loaded.config;
}
