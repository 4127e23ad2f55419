/** Addresses to listen on, as text and as parts: `127.0.0.1:8700`, `[::]:8080`, `localhost:0`. */
import { isIP, isIPv6 } from 'node:net';

export interface ListenAddress {
  /** An IP address without brackets, or a host name. */
  readonly host: string;
  /** 0 to 65535; 0 lets the system choose a free port. */
  readonly port: number;
}

/** Returns `undefined` if the text is not `host:port` or `[IPv6]:port`. */
export function parseListenAddress(text: string): ListenAddress | undefined {
  const match = /^(?:\[([^\]]+)\]|([^:[\]\s]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const [, bracketed, plain = '', digits] = match;
  const port = Number(digits);
  if (port > 65_535) return undefined;
  if (bracketed !== undefined) return isIPv6(bracketed) ? { host: bracketed, port } : undefined;
  return isIP(plain) !== 0 || isHostName(plain) ? { host: plain, port } : undefined;
}

export function formatListenAddress({ host, port }: ListenAddress): string {
  return isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;
}

/** Whether only this machine can connect to it. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host);
}

/**
 * Returns the host at which a local client reaches a server that listens on `host`: the any-address becomes loopback.
 */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  return host === '::' ? '::1' : host;
}

function isHostName(text: string): boolean {
  return /^(?!-)[a-z0-9-]{1,63}(?<!-)(\.(?!-)[a-z0-9-]{1,63}(?<!-))*$/i.test(text) && !/^[\d.]+$/.test(text);
}
