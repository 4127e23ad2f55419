/** The listeners of a service. The supervisor holds the sockets of those that viewers and publishers connect to. */
import type { Config } from '#config';
import type { ListenAddress } from '#lib/listen-address.ts';
import type { Wanted } from './claim-address.ts';

/** Also the names by which systemd passes sockets. */
export const LISTENER_NAMES = ['http', 'https', 'tier', 'rtmp', 'rtmps'] as const;
export type ListenerName = (typeof LISTENER_NAMES)[number];

/** Descriptors of bound sockets for one process, by listener. It binds the others itself. */
export type SocketSet = Readonly<Partial<Record<ListenerName, readonly number[]>>>;

export interface PlannedListener {
  readonly name: ListenerName;
  /** Setting of its address. */
  readonly key: (typeof LISTENER_KEYS)[ListenerName];
  /** Kind of the processes that listen. */
  readonly part: 'edge-worker' | 'live';
  readonly address: ListenAddress;
}

/** Setting of each listener's address. */
export const LISTENER_KEYS = {
  http: 'edgeHttpListen',
  https: 'edgeHttpsListen',
  tier: 'tierListen',
  rtmp: 'rtmpListen',
  rtmps: 'rtmpsListen',
} as const satisfies Readonly<Record<ListenerName, keyof Config>>;

const LISTENERS = [
  { name: 'http', key: LISTENER_KEYS.http, part: 'edge-worker', role: 'edge' },
  { name: 'https', key: LISTENER_KEYS.https, part: 'edge-worker', role: 'edge' },
  { name: 'tier', key: LISTENER_KEYS.tier, part: 'edge-worker', role: 'edge' },
  { name: 'rtmp', key: LISTENER_KEYS.rtmp, part: 'live', role: 'live' },
  { name: 'rtmps', key: LISTENER_KEYS.rtmps, part: 'live', role: 'live' },
] as const;

/** Returns the listeners that the settings ask for. */
export function listenersOf(
  config: Pick<Config, 'roles' | (typeof LISTENERS)[number]['key']>,
): readonly PlannedListener[] {
  return LISTENERS.flatMap(({ role, ...listener }) => {
    const address = config[listener.key];
    return config.roles.includes(role) && address !== 'off' ? [{ ...listener, address }] : [];
  });
}

/** Setting of the address of any listener. */
export type ListenKey = 'metricsListen' | 'controlListen' | 'fleetListen' | 'dnsListen' | PlannedListener['key'];

/** Returns every address that a service with these settings listens on. */
export function wantedAddresses(config: Config): readonly Wanted<ListenKey>[] {
  const wanted: Wanted<ListenKey>[] = [];
  if (config.roles.includes('control'))
    wanted.push({ key: 'controlListen', who: 'control', address: config.controlListen });
  if (config.roles.includes('control') && config.fleetListen !== 'off')
    wanted.push({ key: 'fleetListen', who: 'the fleet', address: config.fleetListen });
  for (const { key, part, address } of listenersOf(config))
    wanted.push({ key, who: part === 'live' ? 'live' : 'the edge', address });
  if (config.roles.includes('dns') && config.dnsEngine === 'embedded')
    wanted.push({ key: 'dnsListen', who: 'the name server', address: config.dnsListen, withUdp: true });
  wanted.push({ key: 'metricsListen', who: 'the metrics', address: config.metricsListen });
  return wanted;
}
