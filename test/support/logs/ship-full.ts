/**
 * Spool, outbox and shipper in a directory on a small file system that fills up and is emptied again, `ship-full.ts <directory>`;
 * what control was told as a line of JSON.
 */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { gunzipSync } from 'node:zlib';
import { steadyClock } from '../../../src/lib/clock.ts';
import { createLocalTime } from '../../../src/lib/local-time.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import { formatLine } from '../../../src/logs/line.ts';
import { parsePart, parseReport } from '../../../src/logs/report.ts';
import { openOutbox } from '../../../src/logs/ship/outbox.ts';
import { startShipper } from '../../../src/logs/ship/shipper.ts';
import { openSpool } from '../../../src/logs/spool.ts';
import { eventually } from '../eventually.ts';
import { HIT } from './access-record.ts';

const [, , directory = ''] = process.argv;
const zone = createLocalTime('UTC');
const failures: string[] = [];
const log = createLogger({ level: 'error', name: 'test', destination: { write: (line) => void failures.push(line) } });
let now = 0;
const spool = openSpool({
  directory: join(directory, 'logs'),
  name: 'worker-1',
  format: (domainId, record) => `${domainId}\t${formatLine(record, zone)}`,
  maxQueueBytes: 1e7,
  keepBytes: 1e9,
  zone,
  clock: () => now,
  log,
});
const told = { requests: 0, lines: 0 };
const shipper = startShipper({
  directory: join(directory, 'logs'),
  writers: ['worker-1'],
  openOutbox: () =>
    openOutbox({
      file: join(directory, 'outbox.db'),
      edge: 'edge-1',
      onLost: () => undefined,
      onMoved: (to) => void failures.push(`moved to ${to}`),
    }),
  edge: 'edge-1',
  reportMs: () => 1_000,
  postPart: async (body) => {
    const part = parsePart(body);
    told.lines += part === undefined ? 0 : gunzipSync(part.gzip).toString().split('\n').length - 1;
    return 'taken';
  },
  postReport: async (body) => {
    for (const { requests } of parseReport(body)?.minutes ?? []) told.requests += requests;
    return 'taken';
  },
  clock: () => now,
  steadyClock,
  log,
});
let requests = 0;
const write = async (count: number, target = '/') => {
  for (let n = 0; n < count; n++) spool.write(1 + (requests++ % 50), { ...HIT, endedAt: now, target });
  await spool.flush();
};
const filler = join(directory, 'filler');

await write(500);
await eventually('the first are told', () => {
  now += 1_000;
  return told.requests === 500;
});
writeFileSync(filler, '');
for (let bytes = 65_536; bytes >= 512; ) {
  try {
    writeFileSync(filler, Buffer.alloc(bytes), { flag: 'a' });
  } catch {
    bytes /= 2; // it takes no more of them
  }
}
for (let round = 0; round < 20; round++) {
  now += 60_000;
  await write(100, `/${'x'.repeat(500)}`);
  await delay(100);
}
await eventually('what ships has met the full disk', () => {
  now += 1_000;
  return failures.length > 0;
});
const whileFull = { dropped: spool.dropped(), told: told.requests };
rmSync(filler);
await write(100);
await spool.close();
await eventually('all is told', () => {
  now += 1_000;
  return told.requests >= requests && readdirSync(join(directory, 'logs')).length === 0;
});
await shipper[Symbol.asyncDispose]();
console.log(JSON.stringify({ requests, dropped: spool.dropped(), told, whileFull }));
