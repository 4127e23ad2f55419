/** Probes in the whole service: one process asks the origins, every worker knows. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { fetchFrom, SITE_HOST } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { addDomain } from '../support/process/service-with-domain.ts';

const SETTINGS = {
  CAUSEWAY_EDGE_WORKERS: '2',
  CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
  CAUSEWAY_TOKEN_RATE_PER_SECOND: '10000',
};

test('an origin whose monitor URL fails is skipped by all workers, and used again as soon as it succeeds', async (t) => {
  let isWell = true;
  const primary = await startOrigin(t, (request, response) => {
    if (request.target === '/status?full=1') reply('', {}, isWell ? 204 : 404)(request, response);
    else reply('primary')(request, response);
  });
  const backup = await startOrigin(t, reply('backup'));
  const service = await startService(t, { settings: SETTINGS });
  const startedAt = performance.now();
  await addDomain(service, primary.port, {
    backup: `127.0.0.1:${backup.port}`,
    monitor_url: 'https://169.254.169.254/status?full=1', // whose host is nobody's concern
  });
  const port = Number(new URL(service.edgeUrl).port);
  // Requests alone would never tell: the origin answers them all.
  const answers = async () => {
    await delay(250); // while it waits, not a hundred times a second
    const all = await Promise.all(Array.from({ length: 20 }, (_, i) => fetchFrom(port, `/${i}`)));
    return [...new Set(all.map(({ body }) => body))].join(' ');
  };
  assert.equal(await answers(), 'primary');
  await eventually('it is probed', () => primary.requests.some(({ target }) => target === '/status?full=1'), 60_000);
  const [probe] = primary.requests.filter(({ target }) => target === '/status?full=1');
  assert.deepEqual(
    [probe?.method, probe?.headers['host'], probe?.headers['user-agent']],
    ['GET', SITE_HOST, 'causeway-probe'],
  );
  isWell = false;
  await eventually('all workers have left it', async () => (await answers()) === 'backup', 90_000);
  await eventually('the metrics show it', async () =>
    /causeway_origins_down\{process="edge-feed".*\} 1/.test(await metricsOf(service)),
  );
  isWell = true;
  await eventually('all workers are back', async () => (await answers()) === 'primary', 60_000);
  const targets = primary.requests.filter(({ target }) => target === '/status?full=1');
  // One process asks, every 8 to 12 s: two would ask more often.
  const most = 2 + (performance.now() - startedAt) / 8_000;
  assert.ok(targets.length < most, `${targets.length} probes`);
});

async function metricsOf({ metricsUrl }: RunningService): Promise<string> {
  return (await fetch(metricsUrl)).text();
}
