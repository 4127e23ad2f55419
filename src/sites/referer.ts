/** Referer rules: from which sites' pages requests may come. Edge rule 6 */
import { isIP } from 'node:net';
import { fieldText } from '#http/field-text.ts';
import { plainAddress } from '#lib/cidr.ts';
import { parseOrigin } from '#model/origin.ts';
import type { ParsedEntry } from './address-list.ts';
import type { AccessSpec } from './spec.ts';

/**
 * `example.com` (itself and all below it), `*.example.com` (what is below it), an IP address, each perhaps with a port, or `*`
 * for everything. A scheme before it and a path behind it are dropped.
 */
export function parseRefererEntry(text: string): ParsedEntry {
  const [, mark = '', host = ''] = /^(?:[a-z][a-z0-9+.-]*:\/\/)?(\*?\.)?([^/?#]*)/i.exec(text.trim()) ?? [];
  if (host === '*' && mark === '') return { kind: 'entry', entry: '*' };
  const parsed = parseOrigin(host);
  if (parsed.kind === 'invalid') return parsed;
  const name = plainAddress(parsed.host) ?? parsed.host;
  const isAddress = isIP(name) !== 0;
  if (isAddress && mark !== '') return { kind: 'invalid', reason: 'is a wildcard on an IP address' };
  const port = parsed.port === undefined ? '' : `:${parsed.port}`;
  return { kind: 'entry', entry: `${mark && '*.'}${bracket(name)}${port}` };
}

/** Whether a request with this `Referer` (empty without one) is refused. Throws `RangeError` for an entry that is none. */
export function compileReferers({
  mode,
  allowsBlank,
  entries,
}: NonNullable<AccessSpec['referer']>): (referer: string) => boolean {
  const isListed = compileEntries(entries);
  return (referer) => {
    const page = parseReferer(referer);
    if (page === undefined) return !allowsBlank;
    return isListed(page) === (mode === 'deny');
  };
}

interface Page {
  /** Lower-case ASCII; IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
}

/** `undefined`: none, or not of a page on the web, which is as good as none. */
function parseReferer(text: string): Page | undefined {
  const [, scheme, plain, written] = PLAIN_PAGE.exec(text) ?? [];
  if (plain !== undefined) return { host: plain, port: Number(written ?? (scheme === 'https' ? 443 : 80)) };
  const url = URL.parse(fieldText(text));
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return undefined;
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1').replace(/\.$/, '');
  const port = url.port === '' ? DEFAULT_PORTS[url.protocol] : Number(url.port);
  return { host: plainAddress(host) ?? host, port };
}

/** What nearly all of them look like, and means what it says: a lower-case name that cannot be taken for an address. */
const PLAIN_PAGE = /^(https?):\/\/([a-z0-9.-]{1,253}\.[a-z]{2,63})(?::(\d{1,4}))?(?:[/?#]|$)/;

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 } as const;

/** Which ports of a host are meant. */
type Ports = 'any' | ReadonlySet<number>;

function compileEntries(entries: readonly string[]): (page: Page) => boolean {
  const self = new Map<string, Ports>();
  const below = new Map<string, Ports>();
  for (const entry of entries) {
    if (entry === '*') return () => true;
    const isBelowOnly = entry.startsWith('*.');
    const parsed = parseOrigin(isBelowOnly ? entry.slice(2) : entry);
    if (parsed.kind === 'invalid') throw new RangeError(`no entry of a referer list: ${entry}`);
    if (!isBelowOnly) addPort(self, parsed.host, parsed.port);
    if (isIP(parsed.host) === 0) addPort(below, parsed.host, parsed.port);
  }
  return ({ host, port }) => {
    if (includesPort(self.get(host), port)) return true;
    for (let dot = host.indexOf('.'); dot !== -1; dot = host.indexOf('.', dot + 1)) {
      if (includesPort(below.get(host.slice(dot + 1)), port)) return true;
    }
    return false;
  };
}

function addPort(hosts: Map<string, Ports>, host: string, port: number | undefined): void {
  const before = hosts.get(host);
  if (port === undefined || before === 'any') hosts.set(host, 'any');
  else hosts.set(host, new Set([...(before ?? []), port]));
}

function includesPort(ports: Ports | undefined, port: number): boolean {
  return ports !== undefined && (ports === 'any' || ports.has(port));
}

function bracket(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
