/** Origin addresses as a customer writes them. Whether an address may be connected to is the edge's to decide. */
import { isIP, isIPv6 } from 'node:net';
import { parseHostText } from './host-text.ts';

export type ParsedOrigin =
  /** `host` is a lower-case ASCII name or an IP literal without brackets; no `port` means the scheme's default. */
  | { readonly kind: 'origin'; readonly host: string; readonly port?: number }
  /** `reason` completes the sentence "origin …". */
  | { readonly kind: 'invalid'; readonly reason: string };

/** `host`, `host:port`, `IP`, `IP:port`, `[v6]`, `[v6]:port`. */
export function parseOrigin(text: string): ParsedOrigin {
  if (text.includes('://')) return { kind: 'invalid', reason: 'has a scheme: write host or host:port' };
  if (isIPv6(text)) return { kind: 'invalid', reason: 'is IPv6 without brackets: write [address] or [address]:port' };
  const [, v6, plain = '', portText] = /^(?:\[([^\]]*)\]|([^:]*))(?::(.*))?$/s.exec(text) ?? [];
  const port = portText === undefined ? undefined : parsePort(portText);
  if (port === 'invalid') return { kind: 'invalid', reason: 'has a port that is not 1 to 65535' };
  const host = v6 === undefined ? parseHost(plain) : parseV6(v6);
  if (host.kind === 'invalid') return host;
  return { kind: 'origin', host: host.host, ...(port !== undefined && { port }) };
}

function parsePort(text: string): number | 'invalid' {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  return port >= 1 && port <= 65_535 ? port : 'invalid';
}

function parseHost(text: string): ReturnType<typeof parseHostText> {
  return isIP(text) === 4 ? { kind: 'host', host: text } : parseHostText(text);
}

function parseV6(text: string): ReturnType<typeof parseHostText> {
  if (isIPv6(text) && !text.includes('%')) return { kind: 'host', host: text.toLowerCase() };
  return { kind: 'invalid', reason: 'is not an IPv6 address inside its brackets' };
}
