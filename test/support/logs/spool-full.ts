/** Fills a spool in a directory on a small file system, `spool-full.ts <directory>`; what it sees as a line of JSON. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLocalTime } from '../../../src/lib/local-time.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { parseRecord } from '../../../src/logs/journal.ts';
import { openSpool } from '../../../src/logs/spool.ts';
import { HIT } from './access-record.ts';

const [, , directory = ''] = process.argv;
const RECORD = { ...HIT, endedAt: 0 };
const spool = openSpool({
  directory: join(directory, 'logs'),
  name: 'worker-1',
  format: () => 'x'.repeat(999),
  maxQueueBytes: 1e6,
  keepBytes: 1e9,
  zone: createLocalTime('UTC'),
  clock: () => 0,
  log: createLogger({ level: 'silent', name: 'test' }),
});
const write = async (requests: number) => {
  for (let n = 0; n < requests; n++) spool.write(7, RECORD);
  await spool.flush();
};
const filler = join(directory, 'filler');
writeFileSync(filler, Buffer.alloc(1_200_000));
for (let round = 0; round < 20; round++) await write(100); // 2 MB into what is left of 2 MB
const droppedWhileFull = spool.dropped();
rmSync(filler);
await write(100);
await spool.close();
const files = readdirSync(join(directory, 'logs'));
const texts = (ending: string) =>
  files.filter((file) => file.endsWith(ending)).map((file) => readFileSync(join(directory, 'logs', file), 'utf8'));
const lines = texts('.log').flatMap((text) => text.split('\n').slice(0, -1));
const counts = texts('.done').flatMap((text) => text.split('\n').flatMap((line) => parseRecord(line)?.counts ?? []));
console.log(
  JSON.stringify({
    droppedWhileFull,
    dropped: spool.dropped(),
    lines: lines.length,
    wholeLines: lines.filter((line) => line === 'x'.repeat(999)).length,
    counted: counts.reduce((sum, { requests }) => sum + requests, 0),
  }),
);
