/** A name server in this process, over a store that is filled as the feed fills it. */
import { join } from 'node:path';
import { startAnswerer } from '../../../src/dns/answerer.ts';
import type { EdgeVerdict } from '../../../src/dns/choose.ts';
import type { LocatorOptions } from '../../../src/dns/location.ts';
import { NameServer } from '../../../src/dns/name-server.ts';
import type { DnsZones } from '../../../src/dns/zones.ts';
import { acceptChange } from '../../../src/feed/client/accept.ts';
import { openEdgeStore } from '../../../src/feed/store/edge-store.ts';
import type { ResourceChange } from '../../../src/feed/wire/protocol.ts';
import { createLogger } from '../../../src/lib/logger.ts';
import type { PublishedPlace } from '../../../src/model/edge-place.ts';
import { freePort } from '../free-port.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

export const ZONES: DnsZones = { suffix: 'cdn.test', routing: 'r.test', nameServers: ['ns1.dns.test', 'ns2.dns.test'] };

export interface TestNameServer {
  readonly port: number;
  readonly server: NameServer;
  /** Applies changes as a delta of the feed does. `names`: as the feed client tells them. */
  apply(changes: readonly Change[], names: readonly string[]): void;
  /** Time of the server's clock, which stands still. */
  now: number;
  /** What this machine's edge, `local`, says of itself. */
  ownVerdict: EdgeVerdict;
}

type Change =
  | Omit<Extract<ResourceChange, { op: 'put' }>, 'revision'>
  | Omit<Extract<ResourceChange, { op: 'delete' }>, 'revision'>;

interface Options {
  readonly places: Readonly<Record<string, PublishedPlace>>;
  readonly locator?: Partial<LocatorOptions>;
  readonly ownEdge?: string;
}

export async function startNameServer(
  t: Cleanup,
  { places, locator, ownEdge = 'local' }: Options,
): Promise<TestNameServer> {
  const store = openEdgeStore(join(temporaryFolder(t), 'sites.db'), () => {
    throw new Error('the file of the test was moved aside');
  });
  {
    using staging = store.stageSnapshot();
    staging.commit({ epoch: 'e', revision: 1, tag: 't1', continues: false }, 0);
  }
  const state = { now: 1_800_000_000_000, ownVerdict: 'up' as EdgeVerdict };
  const log = createLogger({ level: 'silent', name: 'test' });
  const { routing } = store;
  const server = new NameServer({
    source: { ...routing, revision: () => store.head()?.revision ?? 0 },
    zones: ZONES,
    ttl: 30,
    locator: { networks: [], lookUp: () => undefined, fallback: undefined, ...locator },
    ownEdge,
    ownVerdict: () => state.ownVerdict,
    ownAddresses: () => ['192.0.2.53'],
    clock: () => state.now,
    monotonic: () => performance.now(),
    random: Math.random,
    log,
  });
  const port = await freePort();
  const answerer = await startAnswerer({
    listen: { host: '127.0.0.1', port },
    view: () => server.view,
    clock: () => state.now,
    monotonic: () => performance.now(),
    log,
  });
  t.after(async () => {
    await answerer[Symbol.asyncDispose]();
    server[Symbol.dispose]();
    store[Symbol.dispose]();
  });
  const apply: TestNameServer['apply'] = (changes, names) => {
    const revision = (store.head()?.revision ?? 0) + 1;
    // `as`: the spread of a union keeps its members.
    const accepted = changes.map((change) => acceptChange({ ...change, revision } as ResourceChange));
    const refused = accepted.find(({ kind }) => kind === 'reject');
    if (refused !== undefined) throw new Error(JSON.stringify(refused));
    store.applyDelta({ revision, tag: `t${revision}` }, accepted, state.now);
    server.take(names);
  };
  const edges = Object.entries(places).map(([key, body]): Change => ({ kind: 'edge_place', key, op: 'put', body }));
  apply([...edges, { kind: 'serving', key: 'default', op: 'put', body: { groups: ['default'] } }], []);
  return Object.assign(state, { port, server, apply });
}
