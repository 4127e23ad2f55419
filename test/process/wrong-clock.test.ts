/** Edges whose clocks are hours and days off: they serve, and purges, acknowledgements and prefetches are right. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { clockOff } from '../support/fleet/machines.ts';
import { runCommand, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

/** An origin's Date makes an answer as old as the clock is ahead, so that its lifetime has to be longer. RFC 9111 §4.2.3 */
const OFFSETS = { ahead: '+2h', behind: '-3d' } as const;
const HOST = 'www.example.com';

test(
  'edges with wrong clocks serve, purge and prefetch as others, and read unhealthy',
  needs('faketime'),
  async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) =>
      reply(`version ${version}`, { 'Cache-Control': 'max-age=86400' })(request, response),
    );
    const control = await startService(t, {
      settings: { CAUSEWAY_ROLES: 'control', CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000' },
    });
    const edges = await Promise.all(
      Object.entries(OFFSETS).map(([id, offset]) =>
        startService(t, {
          settings: {
            ...clockOff(offset),
            CAUSEWAY_ROLES: 'edge',
            CAUSEWAY_EDGE_ID: id,
            CAUSEWAY_FEED_SOCKET: join(control.dataDir, 'run', 'feed.sock'),
            CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
          },
        }),
      ),
    );
    const ports = edges.map(({ edgeUrl }) => Number(new URL(edgeUrl).port));
    const client = createClient({ baseUrl: control.controlUrl, accessToken: control.token });
    const data = `127.0.0.1:${origin.port}`;
    const { domain_id } = await client.call('domain.add', { domain: HOST, cdn_type: '1', data });
    const isDone = async (task_id: string) => {
      const { state, edges: reached } = await client.call('cache.getTask', { task_id });
      return state === 'done' && reached.length === ports.length;
    };
    const answers = async (path: string) => {
      const received = await Promise.all(ports.map((port) => fetchFrom(port, path, { host: HOST })));
      return received.map(({ body, headers }) => `${body} ${headers['x-cache']}`);
    };

    const prefetch = await client.call('cache.prefetch', { urls: `http://${HOST}/a` });
    await eventually('both edges have prefetched', async () => {
      return origin.requests.length === ports.length && (await isDone(prefetch.task_id));
    });
    version = 2;
    assert.deepEqual(await answers('/a'), ['version 1 HIT', 'version 1 HIT']);
    const purge = await client.call('cache.purge', { domain_id });
    await eventually('both edges have purged', () => isDone(purge.task_id));
    assert.deepEqual(await answers('/a'), ['version 2 MISS', 'version 2 MISS']);
    assert.deepEqual(await answers('/a'), ['version 2 HIT', 'version 2 HIT']);
    await eventually('the change is in force', async () => {
      return (await client.call('domain.get', { domain_id })).domain_status === 2;
    });
    await eventually('both edges read unhealthy for their clocks', async () => {
      const { stdout } = await runCommand(t, ['edge', 'list', '--data-dir', control.dataDir]);
      return /ahead +default +unhealthy \(clock\)/.test(stdout) && /behind +default +unhealthy \(clock\)/.test(stdout);
    });
    for (const port of ports) {
      const { status, body } = await fetchFrom(port, '/.well-known/causeway/health');
      assert.deepEqual([status, body], [503, 'clock\n']);
    }
  },
);
