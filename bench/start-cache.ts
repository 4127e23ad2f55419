/**
 * Time from the command to ready after all processes were killed: with an empty cache directory, and with one of 10 GB
 * that is full of objects of 4 KiB. The latter is sparse: it has all tables of entries, but no entries except one, which
 * shows when the index has been read.
 */
import { once } from 'node:events';
import { closeSync, globSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { get } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { nameSegment } from '#edge/store/disk/segment.ts';
import { encodeRow, encodeUnitHeader, TABLE_ROW_BYTES, UNIT_HEADER_BYTES } from '#edge/store/disk/unit.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';
import { openMissOrigin } from './support/miss-origin.ts';
import { formatMs, percentiles, timed } from './support/percentiles.ts';
import { createRandom } from './support/zipf.ts';

const STARTS = 5;
const CACHE_BYTES = 10 * 1024 ** 3;
/** Less than the limit by more than the room that is kept free. */
const SEGMENTS = 125;
const SEGMENT_BYTES = CACHE_BYTES / 128;
const ENTRY_BYTES = 4096;
const ROWS = 255;
const UNIT_BYTES = UNIT_HEADER_BYTES + ROWS * (ENTRY_BYTES + TABLE_ROW_BYTES);
const POLL_MS = 10;
const OBJECT_BYTES = 1024;

const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
try {
  await using origin = await openMissOrigin(folder, [OBJECT_BYTES]);
  const [empty, full] = [await prepare('empty', origin.port), await prepare('full', origin.port)];
  fill(full);
  const readyMs: Record<'empty' | 'full', number[]> = { empty: [], full: [] };
  const foundMs: number[] = [];
  let memory = '';
  for (let i = 0; i < STARTS; i++) {
    rmSync(join(empty, 'cache'), { recursive: true });
    const first = await start(empty);
    readyMs.empty.push(first.readyMs);
    await first.kill();
    const second = await start(full);
    readyMs.full.push(second.readyMs);
    foundMs.push(await timed(() => untilFound(second.edgePort)));
    memory = second.memory();
    await second.kill();
  }
  console.log(`an empty cache, command to ready: ${formatMs(percentiles(readyMs.empty))}`);
  console.log(
    `${SEGMENTS * Math.floor(SEGMENT_BYTES / UNIT_BYTES) * ROWS} keys: ${formatMs(percentiles(readyMs.full))}`,
  );
  console.log(`and until what is stored is found: ${formatMs(percentiles(foundMs))}`);
  console.log(`in memory then, MiB: ${memory}`);
} finally {
  rmSync(folder, { recursive: true });
}

function start(dataDir: string) {
  return startEdgeAlone(dataDir, { CAUSEWAY_CACHE_DISK_SIZE: String(CACHE_BYTES) });
}

/** Returns a data directory whose cache has one object, and whose service was killed. */
async function prepare(name: string, originPort: number): Promise<string> {
  const dataDir = join(folder, name);
  fillEdgeStore(dataDir, [plainSite(1, originPort)]);
  const service = await start(dataDir);
  while ((await ask(service.edgePort, {})) !== 200) await delay(POLL_MS);
  while (segmentsIn(dataDir).every((path) => statSync(path).size === 0)) await delay(POLL_MS);
  await service.kill();
  return dataDir;
}

function segmentsIn(dataDir: string): string[] {
  return globSync(join(dataDir, 'cache', 'segments-*', '*.segment'));
}

function fill(dataDir: string): void {
  const segments = dirname(segmentsIn(dataDir)[0] ?? '');
  const random = createRandom(1);
  const word = () => Math.floor(random() * 2 ** 32);
  let time = Date.now() - CACHE_BYTES / 1024;
  for (let number = 0; number < SEGMENTS; number++) {
    const segment = nameSegment(number.toString(16).padStart(16, '0'), number % 8 !== 0);
    const file = openSync(join(segments, segment), 'wx', 0o600);
    for (let start = 0; start + UNIT_BYTES <= SEGMENT_BYTES; start += UNIT_BYTES) {
      const table = Buffer.alloc(ROWS * TABLE_ROW_BYTES);
      for (let row = 0; row < ROWS; row++) {
        const offset = start + UNIT_HEADER_BYTES + row * ENTRY_BYTES;
        const entry = { high: word(), low: word(), offset, length: ENTRY_BYTES, fileBlocks: 0 };
        encodeRow(entry, table, row * TABLE_ROW_BYTES);
      }
      const isLast = start + 2 * UNIT_BYTES > SEGMENT_BYTES;
      const header = { entryBytes: ROWS * ENTRY_BYTES, rows: ROWS, isLast, time: time++ };
      writeSync(file, encodeUnitHeader({ segment, start }, header, table), 0, UNIT_HEADER_BYTES, start);
      writeSync(file, table, 0, table.length, start + UNIT_HEADER_BYTES + ROWS * ENTRY_BYTES);
    }
    closeSync(file);
  }
}

async function untilFound(port: number): Promise<void> {
  while ((await ask(port, { 'cache-control': 'only-if-cached' })) !== 200) await delay(POLL_MS);
}

/** Returns the status of the answer. */
async function ask(port: number, headers: Readonly<Record<string, string>>): Promise<number | undefined> {
  const path = `/fresh/${OBJECT_BYTES}/kept`;
  const request = get({
    host: '127.0.0.1',
    port,
    path,
    headers: { host: 'site-1.example.com', ...headers },
    agent: false,
  });
  const [response] = await once(request, 'response');
  response.resume();
  await once(response, 'end');
  return response.statusCode;
}
