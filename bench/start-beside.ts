/**
 * Time from the command to ready, and the processor time until then, beside another checkout, in turns:
 * `npm run bench -- start-beside FOLDER [STARTS]`. Each start has a new data directory.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startService } from './support/service.ts';

const [, , , other, starts = '15'] = process.argv;
if (other === undefined) throw new Error('expected the folder of another checkout');
const ROOTS = { this: join(import.meta.dirname, '..'), other: resolve(other) } as const;
type Name = keyof typeof ROOTS;

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const samples: Record<Name, { readyMs: number[]; cpuMs: number[] }> = {
  this: { readyMs: [], cpuMs: [] },
  other: { readyMs: [], cpuMs: [] },
};
console.log(`load at the beginning: ${loadavg().map((each) => each.toFixed(1))}`);
try {
  for (let n = 0; n < Number(starts); n++) {
    // Each is first as often as the other.
    const order: readonly Name[] = n % 2 === 0 ? ['other', 'this'] : ['this', 'other'];
    for (const name of order) {
      await using service = await startService(join(folder, `${name}-${n}`), {}, ROOTS[name]);
      samples[name].readyMs.push(service.readyMs);
      samples[name].cpuMs.push(service.wholeCpuMs());
    }
  }
} finally {
  rmSync(folder, { recursive: true });
}
for (const name of ['other', 'this'] as const)
  for (const [what, values] of Object.entries(samples[name])) console.log(`${name} ${what}: ${describe(values)}`);
console.log(`load at the end: ${loadavg().map((each) => each.toFixed(1))}`);

function describe(values: readonly number[]): string {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => Math.round(sorted[Math.floor((sorted.length - 1) * share)] ?? Number.NaN);
  return `median ${at(0.5)}, quartiles ${at(0.25)} to ${at(0.75)}, least ${at(0)}, most ${at(1)}`;
}
