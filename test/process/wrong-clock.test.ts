/** Edges whose clocks are hours and days off: they serve, and purges, acknowledgements and prefetches are right. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { fetchFrom } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { clockOff } from '../support/fleet/machines.ts';
import { runCommand, startService } from '../support/process/service.ts';
import { needs } from '../support/runner/needs.ts';

/** An origin's Date makes an answer as old as the clock is ahead, so that its lifetime has to be longer. RFC 9111 §4.2.3 */
const LIFETIME = 'max-age=604800';
const OFFSETS = { 'hours-ahead': '+2h', 'hours-behind': '-2h', 'days-ahead': '+3d', 'days-behind': '-3d' } as const;
const HOST = 'www.example.com';

test(
  'edges with wrong clocks serve, purge and prefetch as others, and read unhealthy',
  needs('faketime'),
  async (t) => {
    let version = 1;
    const origin = await startOrigin(t, (request, response) =>
      reply(`version ${version}`, { 'Cache-Control': LIFETIME })(request, response),
    );
    const control = await startService(t, {
      settings: {
        CAUSEWAY_ROLES: 'control',
        CAUSEWAY_FLEET_LISTEN: '127.0.0.1:0',
        CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
      },
    });
    const fleet = /^fleet +(\S+)/m.exec(control.process.stdout())?.[1] ?? '';
    const operate = async (...args: string[]) => (await runCommand(t, [...args, '--data-dir', control.dataDir])).stdout;
    const edges = await Promise.all(
      Object.entries(OFFSETS).map(async ([id, offset]) =>
        startService(t, {
          settings: {
            ...clockOff(offset),
            CAUSEWAY_ROLES: 'edge',
            CAUSEWAY_CONTROL: fleet,
            CAUSEWAY_ENROL_TOKEN: (await operate('edge', 'token', 'create', '--edge-id', id)).trim(),
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
      // The task does not wait for edges that read unhealthy; this test does.
      return state === 'done' && reached.filter((edge) => edge.state === 'done').length === ports.length;
    };
    const all = (outcome: string) => ports.map(() => outcome);
    const answers = async (path: string) => {
      const received = await Promise.all(ports.map((port) => fetchFrom(port, path, { host: HOST })));
      return received.map(({ body, headers }) => `${body} ${headers['x-cache']}`);
    };

    const prefetch = await client.call('cache.prefetch', { urls: `http://${HOST}/a` });
    await eventually('all edges have prefetched', async () => {
      return origin.requests.length === ports.length && (await isDone(prefetch.task_id));
    });
    version = 2;
    assert.deepEqual(await answers('/a'), all('version 1 HIT'));
    const purge = await client.call('cache.purge', { domain_id });
    await eventually('all edges have purged', () => isDone(purge.task_id));
    assert.deepEqual(await answers('/a'), all('version 2 MISS'));
    assert.deepEqual(await answers('/a'), all('version 2 HIT'));
    await eventually('the change is in force', async () => {
      return (await client.call('domain.get', { domain_id })).domain_status === 2;
    });
    await eventually('all edges read unhealthy for their clocks', async () => {
      const list = await operate('edge', 'list');
      return Object.keys(OFFSETS).every((id) => new RegExp(`${id} +default +unhealthy \\(clock\\)`).test(list));
    });
    for (const port of ports) {
      const { status, body } = await fetchFrom(port, '/.well-known/causeway/health');
      assert.deepEqual([status, body], [503, 'clock\n']);
    }
  },
);
