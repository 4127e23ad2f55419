/**
 * Puts distinct keys of 1 KiB through the memory tier and watches the process: `store-memory.ts [keys] [limit in MiB]`, by
 * default a million through 256 MiB. Ends with a line of JSON; exit code 1 when the process took more than 150 MiB above the limit.
 */
import { MemoryStore } from '../../../src/edge/store/memory.ts';
import { DEFAULT_CACHE_OPTIONS } from '../../../src/sites/cache-options.ts';
import { sampleHead } from './stored.ts';

const MIB = 2 ** 20;
const ALLOWED_ABOVE = 150 * MIB;
const BODY_BYTES = 1024;
const [keys = 1_000_000, limitMib = 256] = process.argv.slice(2).map(Number);

const store = new MemoryStore({ maxBytes: limitMib * MIB });
let maxRss = 0;
let maxCounted = 0;
const startedAt = performance.now();
for (let i = 0; i < keys; i++) {
  const writer = store.openWriter();
  writer.add(Buffer.alloc(BODY_BYTES, i));
  const body = writer.finish();
  if (body === undefined) throw new Error('the body was not taken');
  store.put(`1 http www.example.com /images/object-${i}.jpg`, { ...sampleHead(i), body }, DEFAULT_CACHE_OPTIONS);
  writer.discard();
  if (i % 1_000 !== 0) continue;
  maxRss = Math.max(maxRss, process.memoryUsage.rss());
  maxCounted = Math.max(maxCounted, store.usage().bytes);
}
const seconds = (performance.now() - startedAt) / 1_000;
const { bytes, objects } = store.usage();
console.log(
  JSON.stringify({
    keys,
    limitMib,
    maxRssMib: Math.round(maxRss / MIB),
    maxCountedMib: Math.round(maxCounted / MIB),
    objects,
    bytesPerObject: Math.round(bytes / objects),
    overheadPerObject: Math.round(bytes / objects) - BODY_BYTES,
    putsPerSecond: Math.round(keys / seconds),
  }),
);
if (maxRss > limitMib * MIB + ALLOWED_ABOVE || maxCounted > limitMib * MIB) process.exitCode = 1;
