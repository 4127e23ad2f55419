/** Referer rules: from which sites' pages requests may come. Edge rule 6 */
import { isIP } from 'node:net';
import { fieldText } from '#http/field-text.ts';
import { plainAddress } from '#lib/cidr.ts';
import { packUnits } from '#lib/packed.ts';
import { parseOrigin } from '#model/origin.ts';
import type { ParsedEntry } from './address-list.ts';
import { RuleFilter } from './rule-filter.ts';
import { hostPiece, Signature } from './signature.ts';
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

export class RefererList {
  readonly #isDenied: boolean;
  readonly #allowsBlank: boolean;
  readonly #listsAll: boolean;
  readonly #sieve: RuleFilter;
  /** Limits of each entry: its index in `REACHES`, then its port. */
  readonly #limits: string;
  readonly #signature: Signature;

  /** Throws `RangeError` for an invalid entry. `signature` is scratch memory during a question. */
  constructor({ mode, allowsBlank, entries }: NonNullable<AccessSpec['referer']>, signature = new Signature()) {
    const hosts = entries.filter((entry) => entry !== '*').map(parseEntry);
    this.#isDenied = mode === 'deny';
    this.#allowsBlank = allowsBlank;
    this.#listsAll = entries.includes('*');
    this.#sieve = new RuleFilter(hosts.map(({ host }) => ({ piece: hostPiece(host), text: host })));
    this.#limits = packUnits(hosts.flatMap(({ reach, port }) => [reach, port]));
    this.#signature = signature;
  }

  /** Whether a request with this `Referer` is refused; to have none, or one that says nothing, is the same. */
  denies(referer: string | undefined): boolean {
    const page = referer === undefined || referer === '' ? undefined : parseReferer(referer);
    if (page === undefined) return !this.#allowsBlank;
    return this.#isListed(page) === this.#isDenied;
  }

  #isListed(page: Page): boolean {
    if (this.#listsAll) return true;
    this.#signature.clear();
    this.#signature.addHosts(page.host);
    return this.#sieve.find(this.#signature, (host, index) => this.#matches(page, host, index)) !== -1;
  }

  #matches({ host: asked, port: askedPort }: Page, host: string, index: number): boolean {
    const [reach, port] = [this.#limits.charCodeAt(index * 2), this.#limits.charCodeAt(index * 2 + 1)];
    if (port !== ANY_PORT && port !== askedPort) return false;
    if (asked === host) return (reach & REACHES.self) !== 0;
    return (reach & REACHES.below) !== 0 && asked.endsWith(host) && asked.at(-1 - host.length) === '.';
  }
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
const PLAIN_PAGE = /^(https?):\/\/([a-z0-9.-]{1,253}\.[a-z]{2,63})(?::(\d{1,4}))?(?=[/?#]|$)/;

/**
 * Length of the prefix of a `Referer` that alone decides about it: every other that begins with it, and then ends or
 * continues with `/`, `?` or `#`, gets the same decision. 0: there is no such prefix.
 */
export function plainOriginLength(referer: string): number {
  return PLAIN_PAGE.exec(referer)?.[0].length ?? 0;
}

const DEFAULT_PORTS = { 'http:': 80, 'https:': 443 } as const;

/** What of a host is meant: bits. */
const REACHES = { self: 1, below: 2 } as const;
const ANY_PORT = 0;

function parseEntry(entry: string): { readonly host: string; readonly port: number; readonly reach: number } {
  const isBelowOnly = entry.startsWith('*.');
  const parsed = parseOrigin(isBelowOnly ? entry.slice(2) : entry);
  if (parsed.kind === 'invalid') throw new RangeError(`no entry of a referer list: ${entry}`);
  const { host, port = ANY_PORT } = parsed;
  const hasBelow = isIP(host) === 0;
  return { host, port, reach: (isBelowOnly ? 0 : REACHES.self) | (hasBelow ? REACHES.below : 0) };
}

function bracket(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}
