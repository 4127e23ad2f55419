/**
 * The name server of a machine with control. It lives in the feed's process, whose store has the names of all domains, so
 * that a domain has its name before its change counts as in force. docs/decisions/0719
 */
import type { Registry } from 'prom-client';
import { isOpenToRegistration } from '#dns/foreign-zone.ts';
import { type Geoip, openGeoip } from '#dns/geoip.ts';
import { NameServer, type RoutingSource } from '#dns/name-server.ts';
import type { EdgeStore } from '#feed/store/edge-store.ts';
import { plainAddress } from '#lib/cidr.ts';
import { systemClock } from '#lib/clock.ts';
import { isLoopback } from '#lib/listen-address.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { OwnCondition } from '#model/edge-health.ts';
import type { PartContext } from '../process/child.ts';
import { openLocalSocket } from '../sockets/local-socket.ts';
import { dnsSocketPath } from '../sockets/worker-sockets.ts';
import { startEngine } from './dns-engine.ts';
import { ownAddressesOf } from './edge-place.ts';

export interface Dns extends AsyncDisposable {
  /** See `NameServer.take`. */
  take(names: readonly string[] | undefined): void;
  /** Why it does not answer, or not what it should; `undefined`: it does. */
  readonly problem: string | undefined;
}

export interface DnsSurroundings {
  readonly store: EdgeStore;
  /** What the health page of this machine's edge says; `undefined`: not known yet. */
  readonly ownWord: () => OwnCondition['word'] | undefined;
  readonly isConnected: () => boolean;
}

const LOOK_MS = 1000;

export async function startDns(context: PartContext, surroundings: DnsSurroundings): Promise<Dns> {
  const { config, log, registry } = context;
  refuseForeignZone(config);
  await using stack = new AsyncDisposableStack();
  const geoip = config.dnsGeoip === undefined ? undefined : stack.use(await openGeoip(config.dnsGeoip, log));
  const server = stack.use(createServer(context, surroundings, geoip));
  const engine = stack.use(await startEngine(context, server));
  const age = stack.use(watchAge(surroundings.isConnected));
  const describe = () => ({ ...engine.describe(), tableAgeSeconds: age.seconds(), ...server.describe() });
  stack.use(
    await openLocalSocket({
      path: dnsSocketPath(config.dataDir),
      answer: async (question) => answerQuestion(question, server, describe),
      log,
    }),
  );
  addMetrics(registry, server, age);
  engine.addMetrics(registry);
  const running = stack.move();
  return {
    take: (names) => server.take(names),
    get problem() {
      return engine.describe().problem;
    },
    [Symbol.asyncDispose]: () => running.disposeAsync(),
  };
}

/** Resolvers would ask the owner of that zone, who could send viewers anywhere. */
function refuseForeignZone(config: PartContext['config']): void {
  const { dnsEngine, dnsListen, dnsRoutingZone } = config;
  const { routing } = config.dnsZones;
  if (dnsRoutingZone !== undefined || !isOpenToRegistration(routing)) return;
  if (dnsEngine === 'embedded' && isLoopback(dnsListen.host)) return; // nobody elsewhere is answered
  throw new Error(
    `CNAMEs would lead to ${routing}, which belongs to somebody else; set dns-routing-zone to a zone of yours`,
  );
}

function createServer(
  { config, log }: PartContext,
  { store, ownWord }: DnsSurroundings,
  geoip: Geoip | undefined,
): NameServer {
  return new NameServer({
    source: sourceOf(store),
    zones: config.dnsZones,
    ttl: config.dnsTtl,
    locator: {
      networks: config.dnsNetworks,
      lookUp: (address) => geoip?.lookUp(address),
      fallback: config.dnsDefaultLocation,
    },
    ownEdge: config.edgeId,
    ownVerdict: () => (ownWord() === 'ready' ? 'up' : 'out'),
    ownAddresses: () => ownAddressesOf(config),
    clock: systemClock,
    monotonic: () => performance.now(),
    random: Math.random,
    log,
  });
}

/** The store's reader may be another one after a repair. */
function sourceOf(store: EdgeStore): RoutingSource {
  return {
    revision: () => store.head()?.revision ?? 0,
    siteId: (name) => store.routing.siteId(name),
    goneAt: (name) => store.routing.goneAt(name),
    listSites: () => store.routing.listSites(),
    listGone: () => store.routing.listGone(),
    routingStamp: () => store.routing.routingStamp(),
    listPlaces: () => store.routing.listPlaces(),
    listServing: () => store.routing.listServing(),
  };
}

/** Age of the routing table: 0 while the feed is followed. */
function watchAge(isConnected: () => boolean): Disposable & { seconds(): number } {
  let connectedAt = performance.now();
  const look = () => {
    if (isConnected()) connectedAt = performance.now();
  };
  const timer = setInterval(look, LOOK_MS);
  return {
    seconds() {
      look();
      return Math.floor((performance.now() - connectedAt) / 1000);
    },
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** Answers `causeway dns`. */
function answerQuestion(question: unknown, server: NameServer, describe: () => unknown): unknown {
  // `as`: an object's members are unknown values by their names.
  const { name, client } = Object(question) as { readonly name?: unknown; readonly client?: unknown };
  if (typeof name !== 'string' || typeof client !== 'string') return describe();
  const address = plainAddress(client);
  if (address === undefined) throw new Error(`--client: expected an IP address; found ${JSON.stringify(client)}`);
  const explained = server.explain(name.toLowerCase().replace(/\.$/, ''), address);
  if (explained === undefined) throw new Error(`${name} is in none of the zones of this name server`);
  return explained;
}

function addMetrics(registry: Registry, server: NameServer, age: { seconds(): number }): void {
  const { gauge, total } = metricsOf(registry);
  total('causeway_dns_probes_total', 'Probes of edges by the name server', () => server.describe().probes);
  total(
    'causeway_dns_failed_probes_total',
    'Probes of edges that were not answered',
    () => server.describe().failedProbes,
  );
  gauge('causeway_dns_names', 'Names of domains that the name server answers', () => server.describe().names);
  gauge(
    'causeway_dns_panics',
    'Sets of groups, by address family, for which probes are ignored because they find more than half down',
    () => server.describe().panics.length,
  );
  gauge('causeway_dns_table_age_seconds', 'Time since the name server followed the feed; 0 while it does', () =>
    age.seconds(),
  );
}
