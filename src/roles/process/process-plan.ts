/** Plans the processes of a configuration, each with only the secrets that it needs. Pure. */
import { createHash } from 'node:crypto';
import type { Config } from '#config';
import type { ListenAddress } from '#lib/listen-address.ts';
import { postgresUrls } from '#lib/postgres-url.ts';
import type { PartKind, StartMessage } from './messages.ts';

const POSTGRES_PORT = 5432;

/** What all parts are started with; the settings are shown by control. */
type Common = Pick<StartMessage, 'build' | 'localSecret' | 'settings'>;

export function planParts(config: Config, { settings, ...common }: Common): readonly StartMessage[] {
  const { databaseUrl, databaseListenUrl, controlTls, acme, bootstrapToken, token, enrolToken, ...open } = config;
  // Only control gets the secrets of the log storage.
  const ofEdge: Config = { ...open, logStore: { kind: 'local', directory: '' } };
  const edge = {
    kind: 'start',
    ...common,
    localSecret: '',
    rateSeed: createHash('sha256').update(`rates ${common.localSecret}`).digest('hex'),
    config: ofEdge,
    ownAddresses: ownAddresses(config),
    isSuccessor: false,
    sockets: {},
    logWriters: logWriters(config),
  } as const;
  const parts: StartMessage[] = [];
  const add = (part: PartKind, name: string, more?: Partial<StartMessage>) =>
    void parts.push({ ...edge, part, name, slot: name, ...more });
  if (config.roles.includes('control')) {
    const more = { config, localSecret: common.localSecret, ...(settings !== undefined && { settings }) };
    add('control', 'control', more);
  }
  const { workers, live } = namesOf(config);
  if (workers.length + live.length === 0) return parts;
  add('edge-feed', 'edge-feed');
  for (const name of workers) add('edge-worker', name);
  for (const name of live) add('live', name);
  return parts;
}

/** Plans the workers and the live process of a generation, which take the place of those of the present one. */
export function planSuccessors(
  config: Config,
  common: Common,
  { generation, present, draining }: Succession,
): readonly StartMessage[] {
  return planParts(config, common)
    .filter(({ part }) => hasGenerations(part))
    .map((start) => ({
      ...start,
      name: start.slot + letterOf(generation),
      isSuccessor: true,
      ...(start.part === 'live' && {
        predecessors: [present, ...draining.toReversed()].map((earlier) => start.slot + letterOf(earlier)),
      }),
    }));
}

/** Generations count from 0, the first one. Numbers are left out whose names earlier generations still have. */
export interface Succession {
  readonly generation: number;
  readonly present: number;
  /** Earlier ones that have not ended, the oldest first. */
  readonly draining: readonly number[];
}

/**
 * Returns the number of the next generation: its processes get names that those of the generations in use do not have.
 */
export function nextGeneration(present: number, draining: readonly number[]): number {
  let next = present + 1;
  while ([present, ...draining].some((used) => letterOf(used) === letterOf(next))) next++;
  return next;
}

/** Whether processes of this kind are replaced by a restart. */
export function hasGenerations(part: PartKind): boolean {
  return part === 'edge-worker' || part === 'live';
}

/** Generations that may run at once: the present one and those that drain. */
export const MAX_GENERATIONS = 3;

/** Letters of generations, reused in turn to keep the number of metric series small. The first generation has none. */
function letterOf(generation: number): string {
  return ['', '-b', '-c'][generation % MAX_GENERATIONS] ?? '';
}

/** Returns the names that the processes of a slot have in turn. */
export function namesOfSlot(slot: string): readonly string[] {
  return Array.from({ length: MAX_GENERATIONS }, (_, generation) => slot + letterOf(generation));
}

type Planned = Pick<Config, 'roles' | 'edgeWorkers'>;

/** The parts that write an access log. */
export function logWriters(config: Planned): readonly string[] {
  const { workers, live } = namesOf(config);
  return [...workers, ...live];
}

function namesOf({ roles, edgeWorkers }: Planned) {
  const workers = Array.from({ length: edgeWorkers }, (_, index) => `edge-worker-${index + 1}`);
  return { workers: roles.includes('edge') ? workers : [], live: roles.includes('live') ? ['live'] : [] };
}

function ownAddresses(config: Config): readonly ListenAddress[] {
  const { controlListen, metricsListen, edgeHttpListen, edgeHttpsListen, databaseUrl, databaseListenUrl } = config;
  const { roles, rtmpListen, rtmpsListen, fleetListen, tierListen } = config;
  const databases = [databaseUrl, databaseListenUrl].flatMap((url) => (url === undefined ? [] : addressesOf(url)));
  const fleet = roles.includes('control') ? [fleetListen] : [];
  const dns = roles.includes('dns') ? [config.dnsListen] : [];
  const optional = [
    edgeHttpsListen,
    tierListen,
    ...fleet,
    ...dns,
    ...(roles.includes('live') ? [rtmpListen, rtmpsListen] : []),
  ];
  const listening = optional.filter((address) => address !== 'off');
  return [controlListen, metricsListen, edgeHttpListen, ...listening, ...databases];
}

function addressesOf(text: string): readonly ListenAddress[] {
  return (postgresUrls(text) ?? []).map((url) => {
    const { hostname, port } = new URL(url);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? POSTGRES_PORT : Number(port) };
  });
}
