/**
 * What the name server knows, whatever engine answers: the names, the routing table and the health of edges. It is given
 * the settings of the feed, and probes edges itself. docs/decisions/0719
 */
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { cnameOf } from '#model/domain-name.ts';
import { DEFAULT_SERVING } from '#model/serving-groups.ts';
import type { Client, Route, ZoneView } from './answer.ts';
import {
  candidatesOf,
  chooseAddresses,
  type EdgeCandidate,
  type EdgeVerdict,
  type Family,
  type Usable,
  usableOf,
} from './choose.ts';
import { HealthBook, type HealthEntry } from './health-book.ts';
import type { SetAnswers } from './knot/render.ts';
import { createLocator, type Location, type LocatorOptions } from './location.ts';
import { NameTree } from './name-tree.ts';
import { type EdgeProber, healthKey, startEdgeProber } from './prober.ts';
import { createRoutingTable, type RoutedEdge, type RoutingTable } from './routing-table.ts';
import { type DnsZones, labelsIn } from './zones.ts';

/** The settings of the feed as this machine has them. */
export interface RoutingSource {
  /** 0 before the first settings. */
  revision(): number;
  siteId(name: string): number | undefined;
  /** When the site was deleted; `undefined`: it was not, or long ago. */
  goneAt(name: string): number | undefined;
  listSites(): readonly { readonly name: string; readonly id: number }[];
  listGone(): readonly { readonly name: string; readonly at: number }[];
  /** Changes whenever the next two do. */
  routingStamp(): string;
  listPlaces(): readonly RoutedEdge[];
  listServing(): ReadonlyMap<string, readonly string[]>;
}

export interface NameServerOptions {
  readonly source: RoutingSource;
  readonly zones: DnsZones;
  readonly ttl: number;
  readonly locator: LocatorOptions;
  /** Id of this machine's own edge, which is not probed. */
  readonly ownEdge: string;
  readonly ownVerdict: () => EdgeVerdict;
  readonly ownAddresses: () => readonly string[];
  readonly clock: Clock;
  readonly monotonic: () => number;
  readonly random: () => number;
  readonly log: Logger;
}

/** Time for the first probes, after which edges that were not probed count as up. */
const FIRST_PROBES_MS = 5000;
const PRUNE_MS = 60_000;
/** Changed names that are kept apart for an engine. */
const MAX_CHANGED = 1000;

export class NameServer implements Disposable {
  readonly #options: NameServerOptions;
  readonly #names = new NameTree();
  readonly #book = new HealthBook();
  readonly #prober: EdgeProber;
  readonly #locate: (address: string) => Location;
  readonly #startedAt: number;
  readonly #pruning: NodeJS.Timeout;
  /** What may be handed out, by set and family; made anew when anything of it changes. */
  readonly #usable = new Map<string, Usable>();
  #table: RoutingTable = createRoutingTable({ edges: [], defaults: [], ofDomain: new Map() });
  #changed: 'all' | Set<string> = 'all';
  #stamp = '';
  #revision = 0;
  #ownVerdict: EdgeVerdict = 'up';
  #hasStarted = false;
  readonly #panics = new Set<string>();

  constructor(options: NameServerOptions) {
    this.#options = options;
    this.#locate = createLocator(options.locator);
    this.#startedAt = options.monotonic();
    this.#prober = startEdgeProber({
      book: this.#book,
      random: options.random,
      onProbed: () => this.#usable.clear(),
    });
    this.#pruning = setInterval(() => {
      for (const name of this.#names.prune(options.clock())) this.#noteChanged(name);
    }, PRUNE_MS);
    this.take(undefined);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#pruning);
    this.#prober[Symbol.dispose]();
  }

  /** Takes changed settings. `names`: sites that changed; absent: any may have. */
  take(names: readonly string[] | undefined): void {
    const { source } = this.#options;
    if (names === undefined) this.#readNames();
    else for (const name of names) this.#readName(name);
    this.#revision = source.revision();
    const stamp = source.routingStamp();
    if (stamp === this.#stamp && names !== undefined) return;
    this.#stamp = stamp;
    this.#readTable();
  }

  get view(): ZoneView {
    const { zones, ttl, ownAddresses, clock } = this.#options;
    return {
      zones,
      ttl,
      revision: this.#revision,
      get ownAddresses() {
        return ownAddresses(); // lists the interfaces of the machine, which few queries need
      },
      findTarget: (name) => {
        const found = this.#names.find(name, clock());
        return found.kind === 'domain' ? { kind: 'target', label: this.#table.labelOf(found.domainId) } : found;
      },
      route: (label, family, client) => this.#route(label, family, client),
    };
  }

  /** Names below the suffix that may have changed since the last call; `all`: any may. */
  takeChanged(): 'all' | readonly string[] {
    const changed = this.#changed;
    this.#changed = new Set();
    return changed === 'all' ? changed : [...changed];
  }

  /** All names below the suffix, each with the label of its set. */
  *names(): Iterable<readonly [name: string, label: string]> {
    for (const [name, { domainId }] of this.#names.entries()) yield [name, this.#table.labelOf(domainId)];
  }

  /** Label of the set that a name points to; `undefined` if there is no such name. */
  labelOf(name: string): string | undefined {
    const found = this.#names.find(name, this.#options.clock());
    return found.kind === 'domain' ? this.#table.labelOf(found.domainId) : undefined;
  }

  /** What clients of each network get, for engines that answer by themselves; `undefined` while edges are being probed. */
  answersFor(networks: readonly string[]): readonly SetAnswers[] | undefined {
    if (!this.#isStarted()) return undefined;
    return [...this.#table.sets.keys()].map((label) => ({
      label,
      answers: networks.map((network) => ({ network, addresses: this.#addressesOf(label, network) })),
    }));
  }

  #addressesOf(label: string, network: string): readonly string[] {
    const [client = ''] = network.split('/');
    const location = this.#locate(client);
    return ([4, 6] as const).flatMap(
      (family) => chooseAddresses(this.#usableOf(label, family).candidates, client, location).addresses,
    );
  }

  #noteChanged(name: string): void {
    if (this.#changed === 'all') return;
    this.#changed.add(name);
    if (this.#changed.size > MAX_CHANGED) this.#changed = 'all';
  }

  #readNames(): void {
    const { source } = this.#options;
    // Both are read first: where that fails, the former names stay.
    const [gone, sites] = [source.listGone(), source.listSites()];
    this.#changed = 'all';
    this.#names.clear();
    // The set of a domain that is gone is no longer known.
    for (const { name, at } of gone) this.#names.set(aliasOf(name), { domainId: 0, goneAt: at });
    for (const { name, id } of sites) this.#names.set(aliasOf(name), { domainId: id });
  }

  #readName(name: string): void {
    this.#noteChanged(aliasOf(name));
    const { source } = this.#options;
    const id = source.siteId(name);
    const goneAt = source.goneAt(name);
    if (id !== undefined) this.#names.set(aliasOf(name), { domainId: id });
    else if (goneAt !== undefined) this.#names.set(aliasOf(name), { domainId: 0, goneAt });
    else this.#names.delete(aliasOf(name));
  }

  #readTable(): void {
    const { source, ownEdge } = this.#options;
    const serving = source.listServing();
    const ofDomain = new Map(
      [...serving].flatMap(([key, groups]) => (key === DEFAULT_SERVING ? [] : [[Number(key), groups]])),
    );
    this.#table = createRoutingTable({
      edges: source.listPlaces(),
      defaults: serving.get(DEFAULT_SERVING) ?? [],
      ofDomain,
    });
    this.#usable.clear();
    for (const key of this.#panics) if (!this.#table.sets.has(key.split(' ')[0] ?? '')) this.#panics.delete(key);
    const probed = this.#table.edges.filter(({ edge, weight }) => edge !== ownEdge && weight > 0);
    this.#prober.useTargets(probed.flatMap(({ addresses, port }) => addresses.map((address) => ({ address, port }))));
  }

  #route(label: string, family: Family, client: Client): Route | 'unknown' | 'starting' {
    if (!this.#table.sets.has(label)) return 'unknown';
    if (!this.#isStarted()) return 'starting';
    const { candidates } = this.#usableOf(label, family);
    return chooseAddresses(candidates, client.address, this.#locate(client.address));
  }

  /** Edges are handed out when each was probed once: before, a dead one would be. */
  #isStarted(): boolean {
    if (this.#revision === 0) return false;
    this.#hasStarted ||= this.#book.isComplete || this.#options.monotonic() - this.#startedAt >= FIRST_PROBES_MS;
    return this.#hasStarted;
  }

  #usableOf(label: string, family: Family): Usable {
    const ownVerdict = this.#options.ownVerdict();
    if (ownVerdict !== this.#ownVerdict) this.#usable.clear();
    this.#ownVerdict = ownVerdict;
    const key = `${label} ${family}`;
    const known = this.#usable.get(key);
    if (known !== undefined) return known;
    const usable = usableOf(this.#candidatesOf(label, family));
    this.#usable.set(key, usable);
    this.#notePanic(key, usable.isPanic);
    return usable;
  }

  #candidatesOf(label: string, family: Family): readonly EdgeCandidate[] {
    const edges = this.#table.sets.get(label)?.edges ?? [];
    return candidatesOf(edges, family, (edge, address) => this.#healthOf(edge, address).verdict ?? 'up');
  }

  #healthOf(edge: RoutedEdge, address: string): HealthEntry {
    if (edge.isDraining) return { verdict: 'out', detail: 'it drains' };
    if (edge.edge === this.#options.ownEdge) return { verdict: this.#options.ownVerdict(), detail: undefined };
    return this.#book.look(healthKey({ address, port: edge.port }));
  }

  #notePanic(key: string, isPanic: boolean): void {
    if (isPanic && !this.#panics.has(key))
      this.#options.log.error(
        { set: key },
        'probes find more than half of the edges of a set down, and are ignored for it: is this machine cut off?',
      );
    if (isPanic) this.#panics.add(key);
    else if (this.#panics.delete(key)) this.#options.log.info({ set: key }, 'probes of the set count again');
  }

  /** Describes the state for operators. */
  describe() {
    const { zones } = this.#options;
    return {
      zones,
      revision: this.#revision,
      names: this.#names.size,
      sets: [...this.#table.sets].map(([label, { groups, edges }]) => ({ label, groups, edges: edges.length })),
      edges: this.#table.edges.map((edge) => ({
        edge: edge.edge,
        group: edge.group ?? '',
        weight: edge.weight,
        addresses: edge.addresses.map((address) => ({ address, ...this.#healthOf(edge, address) })),
      })),
      panics: [...this.#panics],
      probes: this.#prober.probes,
      failedProbes: this.#prober.failures,
    };
  }

  /** Why a client gets which addresses for a name; `undefined` if neither zone has it. */
  explain(name: string, client: string) {
    const { zones, clock } = this.#options;
    const below = labelsIn(name, zones.suffix);
    const inRouting = below === undefined ? labelsIn(name, zones.routing) : undefined;
    if (inRouting === undefined && below === undefined) return undefined;
    const found = this.#names.find(below ?? '', clock());
    const label = inRouting ?? (found.kind === 'domain' ? this.#table.labelOf(found.domainId) : undefined);
    const set = this.#table.sets.get(label ?? '');
    if (label === undefined || set === undefined) return { found: found.kind };
    const location = this.#locate(client);
    const families = ([4, 6] as const).map((family) => {
      const { candidates, isPanic } = this.#usableOf(label, family);
      const choice = chooseAddresses(candidates, client, location);
      return { family, ...choice, isPanic, considered: this.#candidatesOf(label, family).map(describeCandidate) };
    });
    return { found: 'target' as const, target: `${label}.${zones.routing}`, groups: set.groups, location, families };
  }
}

function describeCandidate({ edge, address, verdict }: EdgeCandidate) {
  return { edge: edge.edge, address, verdict };
}

/** The name below the suffix by which a domain is found. */
function aliasOf(name: string): string {
  return cnameOf(name, '').slice(0, -1);
}
