/** The listeners that viewers and publishers connect to. The supervisor holds their sockets. */
import type { Config } from '#config';
import type { ListenAddress } from '#lib/listen-address.ts';

/** Also the names by which systemd passes sockets. */
export const LISTENER_NAMES = ['http', 'https', 'rtmp', 'rtmps'] as const;
export type ListenerName = (typeof LISTENER_NAMES)[number];

/** Descriptors of bound sockets for one process, by listener. It binds the others itself. */
export type SocketSet = Readonly<Partial<Record<ListenerName, readonly number[]>>>;

export interface PlannedListener {
  readonly name: ListenerName;
  /** Setting of its address. */
  readonly key: 'edgeHttpListen' | 'edgeHttpsListen' | 'rtmpListen' | 'rtmpsListen';
  /** Kind of the processes that listen. */
  readonly part: 'edge-worker' | 'live';
  readonly address: ListenAddress;
}

const LISTENERS = [
  { name: 'http', key: 'edgeHttpListen', part: 'edge-worker', role: 'edge' },
  { name: 'https', key: 'edgeHttpsListen', part: 'edge-worker', role: 'edge' },
  { name: 'rtmp', key: 'rtmpListen', part: 'live', role: 'live' },
  { name: 'rtmps', key: 'rtmpsListen', part: 'live', role: 'live' },
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
