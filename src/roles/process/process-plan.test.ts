import assert from 'node:assert/strict';
import { test } from 'node:test';
import { loadConfig } from '#config';
import { namesOfSlot, nextGeneration, planParts, planSuccessors } from './process-plan.ts';

const COMMON = { build: '1.0.0', localSecret: 'local' };

test('each role has its processes', () => {
  const rows: [string, string[]][] = [
    ['control,edge,live', ['control', 'edge-feed', 'edge-worker-1', 'edge-worker-2', 'live']],
    ['control,edge', ['control', 'edge-feed', 'edge-worker-1', 'edge-worker-2']],
    ['live', ['edge-feed', 'live']],
    ['control', ['control']],
    ['edge', ['edge-feed', 'edge-worker-1', 'edge-worker-2']],
  ];
  for (const [roles, names] of rows) {
    const parts = planParts(
      configOf({
        CAUSEWAY_ROLES: roles,
        CAUSEWAY_EDGE_WORKERS: '2',
        CAUSEWAY_EDGE_ID: 'a',
        CAUSEWAY_FEED_SOCKET: '/srv/feed.sock',
      }),
      COMMON,
    );
    assert.deepEqual(
      parts.map(({ name }) => name),
      names,
    );
  }
});

test('successors have the slots of their predecessors, and names of which three are used in turn', () => {
  const config = configOf({ CAUSEWAY_EDGE_WORKERS: '2' });
  const plan = (generation: number) =>
    planSuccessors(config, COMMON, { generation, present: generation - 1, draining: [] });
  const names = [1, 2, 3, 4].map((generation) => plan(generation).map(({ name }) => name));
  assert.deepEqual(names, [
    ['edge-worker-1-b', 'edge-worker-2-b', 'live-b'],
    ['edge-worker-1-c', 'edge-worker-2-c', 'live-c'],
    ['edge-worker-1', 'edge-worker-2', 'live'],
    ['edge-worker-1-b', 'edge-worker-2-b', 'live-b'],
  ]);
  const predecessors = [1, 2, 3].map((generation) => plan(generation).at(-1)?.predecessors);
  assert.deepEqual(predecessors, [['live'], ['live-b'], ['live-c']]);
  const third = planSuccessors(config, COMMON, { generation: 2, present: 1, draining: [0] });
  assert.deepEqual(third.at(-1)?.predecessors, ['live-b', 'live']);
  const [first] = plan(1);
  assert.deepEqual([first?.slot, first?.isSuccessor, first?.localSecret], ['edge-worker-1', true, '']);
  assert.deepEqual(namesOfSlot('edge-worker-1'), ['edge-worker-1', 'edge-worker-1-b', 'edge-worker-1-c']);
});

test('a generation does not get the names of an earlier one that still drains', () => {
  assert.deepEqual(
    [nextGeneration(0, []), nextGeneration(1, [0]), nextGeneration(2, [1]), nextGeneration(3, [])],
    [1, 2, 3, 4],
  );
  assert.equal(nextGeneration(2, [0]), 4, 'the one between them has ended first');
  assert.equal(nextGeneration(4, [2]), 6);
});

test('the edge gets no secret, and not where an origin may be', () => {
  const config = configOf({
    DATABASE_URL: 'postgres://me:hush@[::1]/causeway',
    DATABASE_LISTEN_URL: 'postgres://me:hush@db.example:6432/causeway',
    CAUSEWAY_BOOTSTRAP_TOKEN: `hush-${'x'.repeat(32)}`,
    CAUSEWAY_TOKEN: 'hush',
    CAUSEWAY_ACME_DIRECTORY: 'https://ca.example/dir',
    CAUSEWAY_ACME_EAB_KEY_ID: 'kid-1',
    CAUSEWAY_ACME_EAB_MAC_KEY: 'hush-hush-hush-hush',
  });
  const [control, ...edge] = planParts(
    { ...config, controlTls: { cert: 'c', key: 'hush' } },
    { ...COMMON, localSecret: 'hush' },
  );
  assert.equal(control?.localSecret, 'hush');
  for (const part of edge) {
    assert.doesNotMatch(JSON.stringify(part), /hush/);
    assert.deepEqual(part.ownAddresses, [
      { host: '127.0.0.1', port: 8700 },
      { host: '127.0.0.1', port: 8701 },
      { host: '::', port: 8080 },
      { host: '::', port: 8443 },
      { host: '127.0.0.1', port: 8753 },
      { host: '::', port: 1935 },
      { host: '::1', port: 5432 },
      { host: 'db.example', port: 6432 },
    ]);
  }
});

function configOf(env: Record<string, string>) {
  const loaded = loadConfig({ env, flags: {}, cwd: '/srv' });
  if (loaded.kind === 'problems') assert.fail(JSON.stringify(loaded.problems));
  return loaded.config;
}
