/**
 * Time from an API call to its change applied on every edge, at 1 and at 100 edges on one machine. Each edge is a process that
 * receives, compiles and stores. 200 calls one after another; the figure of a call is that of the slowest edge.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Control, startControl } from './support/control.ts';
import { databaseTargets } from './support/databases.ts';
import { Fleet, nowMs } from './support/fleet.ts';
import { formatMs, percentiles } from './support/percentiles.ts';

const CALLS = 200;
const START_TIMEOUT_MS = 120_000;
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));

try {
  for (const target of await databaseTargets(folder)) {
    await using _cleanUp = target;
    await using control = await startControl(folder, target);
    for (const edges of [1, 100]) {
      const samples = await measure(control, `${target.engine}-${edges}`, edges);
      console.log(`${target.engine}, ${edges} edge${edges === 1 ? '' : 's'}: ${formatMs(percentiles(samples))}`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(control: Control, name: string, edges: number): Promise<number[]> {
  const fleet = new Fleet(control.socketPath, folder, name, edges);
  const first = await control.client.call('domain.add', newDomain(`${name}-first`));
  await fleet.settled(START_TIMEOUT_MS);
  const samples: number[] = [];
  for (let i = 0; i < CALLS; i++) {
    const expected = fleet.revision + 1;
    const startedAt = nowMs();
    const origins = [`origin-${i}.example.net`];
    await control.client.call('domain.updateOrigin', { domain_id: first.domain_id, data: origins });
    samples.push((await fleet.applied(expected)) - startedAt);
  }
  fleet.stop();
  return samples;
}

function newDomain(name: string) {
  return { domain: `${name.toLowerCase()}.example.com`, cdn_type: '1' as const, data: 'origin.example.net' };
}
