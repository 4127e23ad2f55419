/**
 * The gap of control's interface when control is restarted: alone, after a kill, and with the whole service, after an
 * order to stop. Viewers are served through the first. docs/operations.md states the figures.
 */
import assert from 'node:assert/strict';
import { get } from 'node:http';
import { type TestContext, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { SITE_HOST } from '../support/edge/edge.ts';
import { startOrigin } from '../support/edge/origin.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { type RunningService, startService } from '../support/process/service.ts';
import { addDomain, untilInForce } from '../support/process/service-with-domain.ts';

const KILLS = 10;
const RESTARTS = 5;
/** Bound of a gap. docs/operations.md */
const MAX_GAP_MS = 15_000;
const PROBE_MS = 10;

test('control that is killed is back soon, and viewers notice nothing', { timeout: 600_000 }, async (t) => {
  const origin = await startOrigin(t, (_, response) => void response.writeHead(200).end('x'));
  const service = await startService(t, { settings: { CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8' } });
  await untilInForce(await addDomain(service, origin.port, { domain: SITE_HOST }));
  const viewer = startProbes(service.edgeUrl, { host: SITE_HOST });
  const gaps: number[] = [];
  for (let n = 0; n < KILLS; n++) {
    const control = service.pids()['control'] ?? assert.fail();
    const probes = startProbes(`${service.controlUrl}/readyz`);
    await eventually('control answers', () => probes.answered() > 5);
    process.kill(control, 'SIGKILL');
    gaps.push(await gapOf(probes));
    // A process that dies again within half a minute waits longer: that is not what is measured here.
    await delay(31_000);
  }
  report(t, 'control killed', gaps);
  assert.equal(await viewer.stop(), 0, 'failed requests of viewers');
});

test('the interface of a service that is restarted is back soon', { timeout: 600_000 }, async (t) => {
  const settings = { CAUSEWAY_CONTROL_LISTEN: `127.0.0.1:${await freePort()}` };
  let service: RunningService = await startService(t, { settings });
  const gaps: number[] = [];
  for (let n = 0; n < RESTARTS; n++) {
    const probes = startProbes(`${service.controlUrl}/readyz`);
    await eventually('control answers', () => probes.answered() > 5);
    assert.equal(await service.stop(), 0);
    service = await startService(t, { settings, dataDir: service.dataDir });
    gaps.push(await gapOf(probes));
  }
  report(t, 'service restarted', gaps);
});

function report(t: TestContext, what: string, gaps: readonly number[]): void {
  const sorted = gaps.toSorted((a, b) => a - b).map(Math.round);
  t.diagnostic(`${what}: median gap ${sorted[Math.floor(sorted.length / 2)]} ms, most ${sorted.at(-1)} ms`);
  assert.ok((sorted.at(-1) ?? 0) < MAX_GAP_MS);
}

/** Waits for an answer after a failure. Returns the time between the last answer before it and the first after it. */
async function gapOf(probes: Probes): Promise<number> {
  await eventually('it fails', () => probes.failed() > 0);
  const gap = await eventually('it answers again', () => probes.gapMs());
  await probes.stop();
  return gap;
}

interface Probes {
  answered(): number;
  failed(): number;
  /** Time between the last answer before a failure and the first after it; `undefined` before that. */
  gapMs(): number | undefined;
  /** Returns the number of failures. */
  stop(): Promise<number>;
}

/** Asks again and again, each time over a new connection. */
function startProbes(url: string, headers: Readonly<Record<string, string>> = {}): Probes {
  let [answered, failed, lastAt] = [0, 0, performance.now()];
  let [isStopping, hasFailed]: boolean[] = [false, false];
  let gapMs: number | undefined;
  const running = (async () => {
    while (!isStopping) {
      const isOk = await ask(url, headers);
      if (!isOk) {
        failed++;
        hasFailed = true;
      } else {
        if (hasFailed) gapMs ??= performance.now() - lastAt;
        answered++;
        lastAt = performance.now();
      }
      await delay(PROBE_MS);
    }
  })();
  return {
    answered: () => answered,
    failed: () => failed,
    gapMs: () => gapMs,
    async stop() {
      isStopping = true;
      await running;
      return failed;
    },
  };
}

function ask(url: string, headers: Readonly<Record<string, string>>): Promise<boolean> {
  return new Promise((resolve) => {
    const request = get(url, { agent: false, headers, timeout: 5_000 }, (response) => {
      response.resume().on('close', () => resolve(response.complete && response.statusCode === 200));
    });
    request.on('timeout', () => request.destroy());
    request.on('error', () => resolve(false));
  });
}
