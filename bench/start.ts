/**
 * Time from the command to ready: the whole service with a new data directory; and an edge alone, without control, that holds
 * 100,000 sites: when it is ready, and how long its first viewer waits for the first site (a miss on a local origin).
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SiteSpec } from '#sites/spec.ts';
import { askFor } from './support/ask-for.ts';
import { fillEdgeStore, plainSite, startEdgeAlone } from './support/edge-alone.ts';
import { formatMs, percentiles, timed } from './support/percentiles.ts';
import { startService } from './support/service.ts';

const STARTS = 7;
const SITES = 100_000;
const folder = mkdtempSync(join(tmpdir(), 'causeway-bench-'));
const origin = createServer((_request, response) => response.end('hello')).listen(0, '127.0.0.1');
await once(origin, 'listening');

try {
  const whole: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    await using service = await startService(join(folder, `whole-${i}`), {});
    whole.push(service.readyMs);
  }
  console.log(`the whole service, command to ready: ${formatMs(percentiles(whole))}`);

  const edgeFolder = join(folder, 'edge-alone');
  fillEdgeStore(edgeFolder, plainSites());
  const ready: number[] = [];
  const first: number[] = [];
  let memory = '';
  for (let i = 0; i < STARTS; i++) {
    await using service = await startEdgeAlone(edgeFolder);
    ready.push(service.readyMs);
    first.push(await timed(() => askFor(service.edgePort, `site-${SITES / 2}.example.com`)));
    memory = service.memory();
  }
  console.log(`an edge alone with ${SITES} sites, command to ready: ${formatMs(percentiles(ready))}`);
  console.log(`and its first site, first request to answer: ${formatMs(percentiles(first))}`);
  console.log(`in memory then, MiB: ${memory}`);
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

function* plainSites(): Generator<SiteSpec> {
  const address = origin.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  for (let id = 1; id <= SITES; id++) yield plainSite(id, port);
}
