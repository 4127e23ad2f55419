/** `addDomain` per second over HTTP on both engines, one call at a time and sixteen at once, one token without limits. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Control, startControl } from './support/control.ts';
import { databaseTargets } from './support/databases.ts';

const SECONDS = 5;
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));

try {
  for (const target of await databaseTargets(folder)) {
    await using _cleanUp = target;
    await using control = await startControl(folder, target);
    for (const atOnce of [1, 16]) {
      const perSecond = await measure(control, atOnce);
      console.log(`${target.engine}, ${atOnce} at once: ${perSecond.toFixed(0)} addDomain/s`);
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}

async function measure(control: Control, atOnce: number): Promise<number> {
  const startedAt = performance.now();
  const endAt = startedAt + SECONDS * 1000;
  let added = 0;
  const addUntilEnd = async (lane: number) => {
    for (let i = 0; performance.now() < endAt; i++) {
      const domain = `d${i}-${lane}-${atOnce}.example.com`;
      await control.client.call('domain.add', { domain, cdn_type: '1', data: 'origin.example.net' });
      added += 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, (_, lane) => addUntilEnd(lane)));
  return (added * 1000) / (performance.now() - startedAt);
}
