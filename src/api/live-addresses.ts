/** The addresses under which a stream is published and played, signed with the domain's keys. Pure. docs/decisions/0501 */
import type { StoredLiveKeys } from '#db/live-keys.ts';
import { makeAuthKey } from '#sites/live-key.ts';

/** Which listeners of live there are. */
export interface LiveListeners {
  /** Absent: it is off. */
  readonly rtmpPort?: number | undefined;
  readonly rtmpsPort?: number | undefined;
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
  readonly listeners: LiveListeners;
  /** The domain has a certificate. */
  readonly hasTls: boolean;
  /** The domain redirects plain HTTP. */
  readonly forcesTls: boolean;
  readonly expiresAt: number;
  readonly random: string;
}

const RTMP_PORT = 1935;
const RTMPS_PORT = 443;

export function liveAddresses(asked: AskedAddresses): PushInfo {
  const { host, app, stream, keys, expiresAt } = asked;
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
      ...httpSchemes(asked).flatMap(({ scheme, flv, hls }) => [
        { protocol: flv, url: `${scheme}://${host}${path}.flv${sign(playKey, `${path}.flv`)}` },
        { protocol: hls, url: `${scheme}://${host}${path}.m3u8${sign(playKey, `${path}.m3u8`)}` },
      ]),
    ],
    expiresAt,
  };
}

function rtmpServers({ host, listeners: { rtmpPort, rtmpsPort }, hasTls }: AskedAddresses) {
  return [
    ...(rtmpPort === undefined
      ? []
      : [{ protocol: 'rtmp' as const, base: `rtmp://${host}${portText(rtmpPort, RTMP_PORT)}` }]),
    ...(rtmpsPort === undefined || !hasTls
      ? []
      : [{ protocol: 'rtmps' as const, base: `rtmps://${host}${portText(rtmpsPort, RTMPS_PORT)}` }]),
  ];
}

function httpSchemes({ hasTls, forcesTls }: AskedAddresses) {
  return [
    ...(hasTls && forcesTls ? [] : [{ scheme: 'http', flv: 'http-flv', hls: 'hls' } as const]),
    ...(hasTls ? [{ scheme: 'https', flv: 'https-flv', hls: 'https-hls' } as const] : []),
  ];
}

function portText(port: number, usual: number): string {
  return port === usual ? '' : `:${port}`;
}

function query({ expiresAt, random }: AskedAddresses, key: string | undefined, path: string): string {
  return key === undefined ? '' : `?auth_key=${makeAuthKey({ path, key, expiresAt, random })}`;
}
