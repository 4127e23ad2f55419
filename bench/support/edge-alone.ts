/** An edge that runs without control, from a file of sites that the feed might have left it. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openEdgeStore } from '#feed/store/edge-store.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { CertificatePair } from '#sites/table.ts';
import { type StartedService, startService } from './service.ts';

export function fillEdgeStore(
  dataDir: string,
  sites: Iterable<SiteSpec>,
  certificates: ReadonlyMap<string, CertificatePair> = new Map(),
): void {
  mkdirSync(join(dataDir, 'edge'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, 'lock'), ''); // by which a data directory is known as ours
  using store = openEdgeStore(join(dataDir, 'edge', 'sites.db'), () => undefined);
  using staging = store.stageSnapshot();
  let revision = 0;
  for (const site of sites) {
    revision += 1;
    staging.add({ kind: 'put', resource: 'site', key: site.name, revision, body: JSON.stringify(site) });
  }
  for (const [key, pair] of certificates)
    staging.add({ kind: 'put', resource: 'certificate', key, revision, body: JSON.stringify(pair) });
  staging.commit({ epoch: 'bench', revision, tag: 'bench', continues: false }, Date.now());
}

export function startEdgeAlone(
  dataDir: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<StartedService> {
  return startService(dataDir, {
    CAUSEWAY_ROLES: 'edge',
    CAUSEWAY_EDGE_ID: 'bench',
    CAUSEWAY_FEED_SOCKET: join(dataDir, 'none.sock'),
    CAUSEWAY_EDGE_WORKERS: '1',
    CAUSEWAY_ORIGIN_ALLOW: '127.0.0.0/8',
    ...settings,
  });
}

export function plainSite(id: number, originPort: number): SiteSpec {
  return {
    id,
    name: `site-${id}.example.com`,
    type: 'static',
    state: 'open',
    origins: {
      protocol: 'http',
      primary: [{ host: '127.0.0.1', port: originPort }],
      backup: [],
      hostHeader: '',
      probePath: '',
    },
  };
}
