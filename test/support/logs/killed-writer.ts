/**
 * A writer of the access log that takes requests and is killed in the middle: `killed-writer.ts <directory> <step>…`; a step
 * is a number of requests, `flush`, `hour` (an hour passes), `tell` (what was taken is told) or `close`. What it warns of goes to its output.
 */
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createLocalTime } from '../../../src/lib/local-time.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { openSpool } from '../../../src/logs/spool.ts';
import { openTakenCount } from '../../../src/logs/taken-count.ts';
import { HIT } from './access-record.ts';

const [, , directory = '', ...steps] = process.argv;
const taken = openTakenCount(join(directory, 'taken'));
let now = 0;
const spool = openSpool({
  directory: join(directory, 'logs'),
  name: 'worker-1',
  format: () => 'x'.repeat(99),
  maxQueueBytes: 10_000,
  keepBytes: 1e9,
  zone: createLocalTime('UTC'),
  clock: () => now,
  log: createLogger({ level: 'warn', name: 'test', destination: process.stdout }),
  taken,
});
for (const step of steps) {
  if (step === 'flush') await spool.flush();
  else if (step === 'hour') now += 3_600_000;
  else if (step === 'tell') await delay(60);
  else if (step === 'close') {
    await spool.close();
    taken?.[Symbol.dispose]();
  } else {
    for (let n = 0; n < Number(step); n++) {
      spool.write(7, { ...HIT, endedAt: now });
      taken?.add();
    }
  }
}
console.log(JSON.stringify({ lost: taken?.lost }));
process.kill(process.pid, 'SIGKILL');
