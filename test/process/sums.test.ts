/** Sums of many edges whose control is killed: what was acknowledged is there, and nothing counts twice. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { createClient } from '#client/client.ts';
import { openSocketLink } from '#feed/client/control-link.ts';
import { requestFeed } from '#feed/client/feed-request.ts';
import { STATISTICS_PATH } from '#feed/wire/protocol.ts';
import { noCounters } from '#logs/counters.ts';
import { formatReport } from '#logs/report.ts';
import { describeOnBothEngines, type NewDatabase } from '../support/db/databases.ts';
import { eventually } from '../support/eventually.ts';
import { startService } from '../support/process/service.ts';

const EDGES = 30;
const REPORTS = 6;
const DOMAINS = 200;
const KILLS = 2;

async function startControl(t: TestContext, newDatabase: NewDatabase) {
  const { url } = await newDatabase(t);
  return await startService(t, {
    settings: { CAUSEWAY_ROLES: 'control', ...(url !== undefined && { DATABASE_URL: url }) },
  });
}

describeOnBothEngines('sums of many edges', (newDatabase) => {
  test('sums are exact after kills of control, and of edges that send a report again', async (t) => {
    const service = await startControl(t, newDatabase);
    const client = createClient({ baseUrl: service.controlUrl, accessToken: service.token });
    const { domain_id } = await client.call('domain.add', {
      domain: 'www.example.com',
      cdn_type: '1',
      data: '192.0.2.1',
    });
    const own = Number(domain_id);
    const minute = Math.floor(Date.now() / 60_000) + 1;
    using link = openSocketLink(join(service.dataDir, 'run', 'feed.sock'));
    const { signal } = new AbortController();
    let acknowledged = 0;
    const sendUntilTaken = async (body: string) => {
      for (;;) {
        try {
          const response = await requestFeed({ link, path: STATISTICS_PATH, signal, silenceMs: 30_000, body });
          response.resume();
          acknowledged++;
          return;
        } catch {
          await delay(50); // control is being restarted
        }
      }
    };
    const edge = async (n: number) => {
      for (let sequence = 1; sequence <= REPORTS; sequence++) {
        const minutes = Array.from({ length: DOMAINS }, (_, d) => {
          return { ...noCounters(), requests: 1, bytesOut: 1_000, domainId: own + d, minute };
        });
        const body = formatReport({ edge: `edge-${n}`, start: 'a', sequence, minutes });
        await sendUntilTaken(body);
        // An edge that was killed before it noted the answer sends the report again.
        if ((n + sequence) % 3 === 0) await sendUntilTaken(body);
      }
    };
    const all = Promise.all(Array.from({ length: EDGES }, (_, n) => edge(n)));
    for (let kill = 1; kill <= KILLS; kill++) {
      const from = acknowledged;
      await eventually('some are taken', () => acknowledged >= Math.min(from + 20, EDGES * REPORTS));
      const before = service.pids()['control'] ?? assert.fail();
      process.kill(before, 'SIGKILL');
      await eventually('control is back', () => ![undefined, before].includes(service.pids()['control']));
    }
    await all;
    const day = { starttime: (minute - 60) * 60, endtime: (minute + 60) * 60 };
    for (const interval of ['minute', 'hour', 'day'] as const) {
      const { total } = await client.call('stat.traffic', { domain: 'www.example.com', interval, ...day });
      assert.equal(total.bytes_out, EDGES * REPORTS * 1_000, interval);
    }
  });
});
