/** How fast a long queue goes out over one SMPP connector, and what the process has in memory meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { databaseTargets } from './support/databases.ts';
import { fillQueue, setConnector, startSmsc, startSmsWorld } from './support/sms-world.ts';

const COUNT = Number(process.argv[3] ?? 1_000_000);
const WINDOW = 100;
const LOOK_MS = 500;

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
try {
  for (const target of await databaseTargets(folder)) {
    await using _target = target;
    await using smsc = await startSmsc();
    await using world = await startSmsWorld(folder, target, { smscPort: smsc.port, window: WINDOW, isHeld: true });
    const filledAt = performance.now();
    await fillQueue(world, COUNT);
    console.log(`${target.engine}: ${COUNT} messages queued in ${seconds(filledAt)} s`);
    const startedAt = performance.now();
    await setConnector(join(folder, target.engine), world.db, { smscPort: smsc.port, window: WINDOW, isEnabled: true });
    const memory: string[] = [];
    let told = 0;
    for (let count = 0; count < COUNT; count = await smsc.count()) {
      await delay(LOOK_MS);
      if (count < told) continue;
      told += COUNT / 10;
      memory.push(world.service.memory());
    }
    const rate = Math.round((COUNT / (performance.now() - startedAt)) * 1000);
    console.log(`${target.engine}: ${COUNT} messages went out in ${seconds(startedAt)} s, ${rate}/s`);
    console.log(`${target.engine}: in memory, MiB, at every tenth: ${memory.join(' | ')}`);
  }
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function seconds(since: number): string {
  return ((performance.now() - since) / 1000).toFixed(1);
}
