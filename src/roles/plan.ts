/** Which processes a configuration asks for, and what each is told: no more secrets than it needs. */
import type { Config } from '#config';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { StartMessage } from './messages.ts';

const POSTGRES_PORT = 5432;

export function planParts(
  config: Config,
  common: Pick<StartMessage, 'build' | 'localSecret'>,
): readonly StartMessage[] {
  const { databaseUrl, databaseListenUrl, controlTls, acme, bootstrapToken, token, ...open } = config;
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
  if (!config.roles.includes('edge')) return parts;
  parts.push({ ...edge, part: 'edge-feed', name: 'edge-feed' });
  for (const name of workerNames(config)) parts.push({ ...edge, part: 'edge-worker', name });
  return parts;
}

export function workerNames({ edgeWorkers }: Pick<Config, 'edgeWorkers'>): readonly string[] {
  return Array.from({ length: edgeWorkers }, (_, index) => `edge-worker-${index + 1}`);
}

function ownAddresses(config: Config): readonly ListenAddress[] {
  const { controlListen, metricsListen, edgeHttpListen, edgeHttpsListen, databaseUrl, databaseListenUrl } = config;
  const databases = [databaseUrl, databaseListenUrl].flatMap((url) => (url === undefined ? [] : addressOf(url)));
  const https = edgeHttpsListen === 'off' ? [] : [edgeHttpsListen];
  return [controlListen, metricsListen, edgeHttpListen, ...https, ...databases];
}

function addressOf(url: string): ListenAddress {
  const { hostname, port } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ''), port: port === '' ? POSTGRES_PORT : Number(port) };
}
