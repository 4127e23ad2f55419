/** Plans the processes of a configuration, each with only the secrets that it needs. */
import type { Config } from '#config';
import type { ListenAddress } from '#lib/listen-address.ts';
import { postgresUrls } from '#lib/postgres-url.ts';
import type { StartMessage } from './messages.ts';

const POSTGRES_PORT = 5432;

export function planParts(
  config: Config,
  common: Pick<StartMessage, 'build' | 'localSecret'>,
): readonly StartMessage[] {
  const { databaseUrl, databaseListenUrl, controlTls, acme, bootstrapToken, token, enrolToken, ...open } = config;
  // What storage of log files asks for is control's alone.
  const ofEdge: Config = { ...open, logStore: { kind: 'local', directory: '' } };
  const edge = {
    kind: 'start',
    ...common,
    localSecret: '',
    config: ofEdge,
    ownAddresses: ownAddresses(config),
  } as const;
  const parts: StartMessage[] = [];
  if (config.roles.includes('control'))
    parts.push({ ...edge, part: 'control', name: 'control', config, localSecret: common.localSecret });
  const { workers, live } = namesOf(config);
  if (workers.length + live.length === 0) return parts;
  parts.push({ ...edge, part: 'edge-feed', name: 'edge-feed' });
  for (const name of workers) parts.push({ ...edge, part: 'edge-worker', name });
  for (const name of live) parts.push({ ...edge, part: 'live', name });
  return parts;
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
  const { roles, rtmpListen, rtmpsListen, fleetListen } = config;
  const databases = [databaseUrl, databaseListenUrl].flatMap((url) => (url === undefined ? [] : addressesOf(url)));
  const fleet = roles.includes('control') ? [fleetListen] : [];
  const optional = [edgeHttpsListen, ...fleet, ...(roles.includes('live') ? [rtmpListen, rtmpsListen] : [])];
  const listening = optional.filter((address) => address !== 'off');
  return [controlListen, metricsListen, edgeHttpListen, ...listening, ...databases];
}

function addressesOf(text: string): readonly ListenAddress[] {
  return (postgresUrls(text) ?? []).map((url) => {
    const { hostname, port } = new URL(url);
    return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? POSTGRES_PORT : Number(port) };
  });
}
