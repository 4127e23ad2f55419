/** Controls side by side on PostgreSQL under Patroni, whose leader is switched over and killed under load. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startPatroni } from '../support/db/patroni.ts';
import { gapOf, LOAD_KINDS } from '../support/process/control-load.ts';
import { judge, startControlsWorld } from '../support/process/controls-world.ts';
import { untilCalm } from '../support/process/fail-over.ts';
import { needs } from '../support/runner/needs.ts';

const ROUNDS = 2;
const MINUTES = 60_000;
/** Interval of checks, ttl and the time to promote, and some for a crowded machine. */
const LONGEST_MS = 60_000;

test(
  'PostgreSQL under Patroni is switched over, killed, and loses its leader: nothing acknowledged is lost or sent twice',
  needs('patroni', 'patronictl', 'etcd', 'haproxy', 'postgresPrograms', 'netSmpp', { timeout: 8 * MINUTES }),
  async (t) => {
    const cluster = await startPatroni(t);
    const world = await startControlsWorld(t, cluster.url);
    const { load } = world;
    const faults = {
      switchover: () => cluster.switchOver(),
      'postgres killed': () => cluster.killLeader('postgres'),
      'patroni killed': () => cluster.killLeader('patroni'),
      'both killed': () => cluster.killLeader('both'),
    };
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const [name, fault] of Object.entries(faults)) {
        load.start();
        await untilCalm(world);
        const from = performance.now();
        await fault();
        await untilCalm(world);
        await cluster.repair();
        await untilCalm(world);
        await load.stop();
        const noticed = LOAD_KINDS.map((kind) => [kind, gapOf(load, kind, from, performance.now())] as const);
        t.diagnostic(`${name} ${JSON.stringify(Object.fromEntries(noticed))}`);
        for (const [kind, { gapMs }] of noticed) assert.ok(gapMs < LONGEST_MS, `${name}: ${kind} ${gapMs}`);
      }
    }
    const figures = await judge(t, world, await cluster.leaderUrl());
    t.diagnostic(JSON.stringify(figures));
    assert.deepEqual([figures.lost, figures.twice], [0, []]);
  },
);
