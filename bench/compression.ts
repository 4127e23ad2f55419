/**
 * What compression costs a hit: requests a second of one worker for a page as it is and in its coded forms, on a site that
 * compresses and on one that does not, in turns.
 */
import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer, request as httpRequest } from 'node:http';
import { Registry } from 'prom-client';
import { createGuard } from '#edge/origin/guard.ts';
import { startEdge } from '#edge/server.ts';
import { MemoryStore } from '#edge/store/memory.ts';
import { createLogger } from '#lib/logger.ts';
import { createSiteTable } from '#sites/lookup.ts';
import type { SiteSpec } from '#sites/spec.ts';
import { measureRate } from './support/load.ts';

const ROUNDS = 5;
const DURATION_MS = 1_500;
const CONNECTIONS = 16;
const SIZES = [4, 40, 400].map((kib) => kib * 1024);
const CASES = [
  { name: 'not a compressing site', host: 'plain.example', acceptEncoding: 'br' },
  { name: 'as it is', host: 'coded.example', acceptEncoding: 'identity' },
  { name: 'gzip', host: 'coded.example', acceptEncoding: 'gzip' },
  { name: 'br', host: 'coded.example', acceptEncoding: 'br' },
] as const;

const WORDS = Array.from({ length: 2_000 }, () =>
  Math.random()
    .toString(36)
    .slice(2, 3 + randomInt(9)),
);
const origin = createServer(({ url = '' }, response) => {
  let text = '';
  while (text.length < Number(url.slice(1))) text += `${WORDS[randomInt(WORDS.length)]} `;
  response.writeHead(200, { 'content-type': 'text/html', 'cache-control': 'max-age=3600', etag: '"1"' });
  response.end(text.slice(0, Number(url.slice(1))));
}).listen(0, '127.0.0.1');
await once(origin, 'listening');
const address = origin.address();
const originPort = typeof address === 'object' && address !== null ? address.port : 0;

await using edge = await openEdge(originPort);
for (const size of SIZES) {
  const rates = new Map<string, number[]>();
  for (const { host, acceptEncoding } of CASES) await warmUp(edge.port, host, `/${size}`, acceptEncoding);
  for (let round = 0; round < ROUNDS; round++) {
    for (const { name, host, acceptEncoding } of CASES) {
      const request = `GET /${size} HTTP/1.1\r\nHost: ${host}\r\nAccept-Encoding: ${acceptEncoding}\r\n\r\n`;
      const rate = await measureRate({ port: edge.port, request, connections: CONNECTIONS, durationMs: DURATION_MS });
      rates.set(name, [...(rates.get(name) ?? []), rate]);
    }
  }
  for (const [name, list] of rates) {
    const median = list.toSorted((a, b) => a - b)[Math.floor(list.length / 2)] ?? 0;
    console.log(`${size / 1024} KiB, ${name}: ${Math.round(median)} requests/s`);
  }
}
origin.close();

async function openEdge(port: number) {
  const spec = (id: number, name: string): SiteSpec => ({
    id,
    name,
    type: 'static',
    state: 'open',
    origins: { protocol: 'http', primary: [{ host: '127.0.0.1', port }], backup: [], hostHeader: '', probePath: '' },
    pageCompress: name === 'coded.example',
  });
  const specs = new Map([spec(1, 'plain.example'), spec(2, 'coded.example')].map((each) => [each.name, each]));
  const getSpec = (name: string) => {
    const found = specs.get(name);
    return found && { spec: found, revision: 1 };
  };
  const sites = createSiteTable({
    source: {
      getSpec,
      purgesOf: () => [],
      getCertificate: () => undefined,
      getAddressList: () => undefined,
      urlKeysOf: () => [],
    },
    maxSites: 10,
  });
  const cacheBytes = 64 * 1024 * 1024;
  return startEdge({
    listen: { host: '127.0.0.1', port: 0 },
    reusePort: false,
    sites,
    store: new MemoryStore({ maxBytes: cacheBytes }),
    maxLagBytes: cacheBytes / 4,
    maxShortcutBytes: () => 0,
    guard: createGuard({ allow: ['127.0.0.0/8'], refuse: [] }),
    accessLog: { write: () => undefined, writeHit: () => undefined, countOrigin: () => undefined },
    clock: Date.now,
    log: createLogger({ level: 'silent', name: 'bench' }),
    registry: new Registry(),
  });
}

/** Requests the page until the answer comes from the cache. */
async function warmUp(port: number, host: string, path: string, acceptEncoding: string): Promise<void> {
  for (let isStored = false; !isStored; ) {
    const headers = { host, 'accept-encoding': acceptEncoding };
    const request = httpRequest({ port, host: '127.0.0.1', path, headers, agent: false }).end();
    const { promise, resolve, reject } = Promise.withResolvers<boolean>();
    request.on('error', reject);
    request.on('response', (response) => {
      response.resume();
      response.on('end', () => resolve(response.headers['x-cache'] === 'HIT' && 'content-length' in response.headers));
    });
    isStored = await promise;
  }
}
