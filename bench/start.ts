/**
 * From the command to ready: the whole service with a new data directory; and an edge alone, without control, that holds
 * 100,000 sites: when it is ready, and how long its first viewer waits for the first site (a miss on a local origin).
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, get } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEdgeStore } from '#feed/edge-store.ts';
import { formatMs, percentiles } from './support/percentiles.ts';
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
  fillEdgeStore(edgeFolder);
  const ready: number[] = [];
  const first: number[] = [];
  for (let i = 0; i < STARTS; i++) {
    const settings = {
      CAUSEWAY_ROLES: 'edge',
      CAUSEWAY_EDGE_ID: 'bench',
      CAUSEWAY_FEED_SOCKET: join(folder, 'none.sock'),
      CAUSEWAY_EDGE_WORKERS: '1',
      CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
    };
    await using service = await startService(edgeFolder, settings);
    ready.push(service.readyMs);
    first.push(await firstAnswerMs(service.edgePort));
  }
  console.log(`an edge alone with ${SITES} sites, command to ready: ${formatMs(percentiles(ready))}`);
  console.log(`and its first site, first request to answer: ${formatMs(percentiles(first))}`);
} finally {
  origin.close();
  rmSync(folder, { recursive: true });
}

function fillEdgeStore(dataDir: string): void {
  const address = origin.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  mkdirSync(join(dataDir, 'edge'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, 'lock'), ''); // by which a data directory is known as ours
  using store = openEdgeStore(join(dataDir, 'edge', 'sites.db'), () => undefined);
  using staging = store.stageSnapshot();
  for (let id = 1; id <= SITES; id++) {
    const name = `site-${id}.example.com`;
    const origins = {
      protocol: 'http',
      primary: [{ host: '127.0.0.1', port }],
      backup: [],
      hostHeader: '',
      probePath: '',
    };
    const body = JSON.stringify({ id, name, type: 'static', state: 'open', origins });
    staging.add({ kind: 'put', resource: 'site', key: name, revision: id, body });
  }
  staging.commit({ epoch: 'bench', revision: SITES, tag: 'bench', continues: false }, Date.now());
}

async function firstAnswerMs(port: number): Promise<number> {
  const startedAt = performance.now();
  const request = get({ host: '127.0.0.1', port, headers: { host: `site-${SITES / 2}.example.com` }, agent: false });
  const [response] = await once(request, 'response');
  if (response.statusCode !== 200) throw new Error(`the edge answered ${response.statusCode}`);
  response.resume();
  await once(response, 'end');
  return performance.now() - startedAt;
}
