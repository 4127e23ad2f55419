/** The addresses under which a stream is published and played, signed with the domain's keys. Pure. docs/decisions/0501 */
import type { StoredLiveKeys } from '#db/tables/live/keys.ts';
import { makeAuthKey } from '#sites/live-key.ts';

/** The ports at which publishers and viewers reach this service. Absent: it is off. 0: not known, so addresses name none. */
export interface LivePorts {
  readonly http?: number | undefined;
  readonly https?: number | undefined;
  readonly rtmp?: number | undefined;
  readonly rtmps?: number | undefined;
}

interface Address {
  readonly protocol: 'rtmp' | 'rtmps' | 'http-flv' | 'https-flv' | 'hls' | 'https-hls';
  readonly url: string;
}

export interface PushInfo {
  readonly publish: readonly (Address & { readonly server: string; readonly streamKey: string })[];
  readonly play: readonly Address[];
  readonly expiresAt: number;
}

export interface AskedAddresses {
  readonly host: string;
  readonly app: string;
  readonly stream: string;
  readonly keys: StoredLiveKeys;
  readonly ports: LivePorts;
  /** The domain has a certificate. */
  readonly hasTls: boolean;
  /** The domain redirects plain HTTP. */
  readonly forcesTls: boolean;
  readonly expiresAt: number;
  readonly random: string;
}

/** Clients use these ports when an address names none. */
const USUAL_PORTS = { http: 80, https: 443, rtmp: 1935, rtmps: 443 } as const;

export function liveAddresses(asked: AskedAddresses): PushInfo {
  const { app, stream, keys, expiresAt } = asked;
  const servers = rtmpServers(asked);
  const [publishKey] = keys.publish;
  const [playKey] = keys.play;
  const sign = (key: string | undefined, path: string) => query(asked, key, path);
  const path = `/${app}/${stream}`;
  return {
    publish: servers.map(({ protocol, base }) => {
      const server = `${base}/${app}`;
      const streamKey = stream + sign(publishKey, path);
      return { protocol, url: `${server}/${streamKey}`, server, streamKey };
    }),
    play: [
      ...servers.map(({ protocol, base }) => ({ protocol, url: base + path + sign(playKey, path) })),
      ...httpServers(asked).flatMap(({ base, flv, hls }) => [
        { protocol: flv, url: `${base}${path}.flv${sign(playKey, `${path}.flv`)}` },
        { protocol: hls, url: `${base}${path}.m3u8${sign(playKey, `${path}.m3u8`)}` },
      ]),
    ],
    expiresAt,
  };
}

function rtmpServers(asked: AskedAddresses) {
  const { ports, hasTls } = asked;
  return [
    ...(ports.rtmp === undefined ? [] : [{ protocol: 'rtmp' as const, base: baseOf(asked, 'rtmp') }]),
    ...(ports.rtmps === undefined || !hasTls ? [] : [{ protocol: 'rtmps' as const, base: baseOf(asked, 'rtmps') }]),
  ];
}

function httpServers(asked: AskedAddresses) {
  const { ports, forcesTls } = asked;
  const hasTls = asked.hasTls && ports.https !== undefined;
  const isPlain = ports.http !== undefined && !(hasTls && forcesTls);
  return [
    ...(isPlain ? [{ base: baseOf(asked, 'http'), flv: 'http-flv', hls: 'hls' } as const] : []),
    ...(hasTls ? [{ base: baseOf(asked, 'https'), flv: 'https-flv', hls: 'https-hls' } as const] : []),
  ];
}

function baseOf({ host, ports }: AskedAddresses, scheme: keyof LivePorts): string {
  const port = ports[scheme] ?? 0;
  return `${scheme}://${host}${port === 0 || port === USUAL_PORTS[scheme] ? '' : `:${port}`}`;
}

function query({ expiresAt, random }: AskedAddresses, key: string | undefined, path: string): string {
  return key === undefined ? '' : `?auth_key=${makeAuthKey({ path, key, expiresAt, random })}`;
}
