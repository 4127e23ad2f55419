/** An edge that has frozen: it holds a change back for 30 s, then it no longer counts. Takes its 30 s. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { join } from 'node:path';
import { test } from 'node:test';
import { createClient } from '#client/client.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';

const LIVE_MS = 30_000;
/** An edge reports every 5 s, so its last report is at most this old when it freezes. */
const REPORT_MS = 5000;

test('a change reads 1 while a frozen edge may still be alive, then 2; the edge catches up when it thaws', async (t) => {
  const service = await startService(t, {
    settings: { CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000' },
  });
  const second = await startService(t, {
    settings: {
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'second',
      CAUSEWAY_FEED_SOCKET: join(service.dataDir, 'run', 'feed.sock'),
    },
  });
  const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
  const { domain_id } = await client.call('domain.add', {
    domain: 'www.example.com',
    cdn_type: '1',
    data: '192.0.2.1',
  });
  const readStatus = async () => (await client.call('domain.get', { domain_id })).domain_status;
  // A status counts the edges that have reported, and one may be ready before it has; a task shows which have.
  const { task_id } = await client.call('cache.purge', { domain_id });
  await eventually('both edges run it', async () => {
    const { edges, state } = await client.call('cache.getTask', { task_id });
    return edges.length === 2 && state === 'done';
  });
  assert.equal(await readStatus(), 2);
  // An edge holds changes back once it has found itself ready.
  await eventually('both edges are ready', async () => {
    return (await client.call('edgeOperator.list', { status: 'ready' })).total === 2;
  });

  const feed = second.pids()['edge-feed'] ?? 0;
  process.kill(feed, 'SIGSTOP');
  const frozenAt = performance.now();
  await client.call('domain.updateOrigin', { domain_id, data: '192.0.2.2' });
  const heldMs = await eventually(
    'the frozen edge no longer counts',
    async () => {
      const status = await readStatus();
      assert.ok(status === 1 || status === 2);
      return status === 2 && performance.now() - frozenAt;
    },
    2 * LIVE_MS,
  );
  assert.ok(heldMs > LIVE_MS - 2 * REPORT_MS, `held back for ${heldMs} ms only`);

  process.kill(feed, 'SIGCONT');
  await client.call('domain.setStatus', { domain_id, domain_status: '0' });
  await eventually('the edge that has thawed serves the change', async () => {
    const sent = get(second.edgeUrl, { headers: { host: 'www.example.com' }, agent: false });
    // `as`: what the event `response` of a client request carries.
    const [response] = (await once(sent, 'response')) as [IncomingMessage];
    response.resume();
    return response.headers['x-cache'] === 'DENIED closed';
  });
});
