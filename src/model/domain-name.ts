/** Names of accelerated domains: parsing what a customer wrote, and which names stand in each other's way. */
import { domainToASCII } from 'node:url';
import { getPublicSuffix } from 'tldts';
import { parseHostText } from './host-text.ts';

const MAX_NAME_CHARS = 253; // RFC 1035 §2.3.4, as text

export type DomainName =
  | { readonly kind: 'name'; readonly name: string; readonly isWildcard: boolean }
  /** `reason` completes the sentence "domain …". */
  | { readonly kind: 'invalid'; readonly reason: string };

/**
 * Lower-case ASCII (IDNA). `.example.com` is written for `*.example.com`. At least two parts; no address; no wildcard on a
 * public suffix, private ones (`github.io`) included: it would cover other people's names. Suffixes further below
 * (`s3.amazonaws.com` below `*.amazonaws.com`) are not known here: the list is asked about names, it gives none.
 */
export function parseDomainName(text: string): DomainName {
  if (text.includes('://'))
    return { kind: 'invalid', reason: 'has a scheme: write the name alone, as in www.example.com' };
  const [, mark, base = ''] = /^(\*?\.)?(.*)$/s.exec(text) ?? [];
  const isWildcard = mark !== undefined;
  const parsed = parseHostText(base);
  if (parsed.kind === 'invalid') return parsed;
  const { host } = parsed;
  if (!host.includes('.')) return { kind: 'invalid', reason: 'needs at least two parts, as in example.com' };
  if (host.includes('_')) return { kind: 'invalid', reason: 'contains an underscore' };
  if (isWildcard && getPublicSuffix(host, { allowPrivateDomains: true }) === host) {
    return { kind: 'invalid', reason: `is a wildcard on the public suffix ${host}` };
  }
  const name = isWildcard ? `*.${host}` : host;
  if (name.length > MAX_NAME_CHARS) return { kind: 'invalid', reason: `is longer than ${MAX_NAME_CHARS} characters` };
  return { kind: 'name', name, isWildcard };
}

/** Where customers point a domain with CNAME. */
export function cnameOf(name: string, suffix: string): string {
  return `${name.replace(/^\*\./, '_wildcard.')}.${suffix}`;
}

/** Why a name cannot be accelerated by a service whose aliases end in `suffix`; completes the sentence "domain …". */
export function problemWithSuffix(name: string, suffix: string): string | undefined {
  const base = name.replace(/^\*\./, '');
  const coversSuffix = name !== base && suffix.endsWith(`.${base}`);
  if (base === suffix || base.endsWith(`.${suffix}`) || coversSuffix) {
    return `overlaps with the names of this service's own aliases, ${suffix}`;
  }
  const { length } = cnameOf(name, suffix);
  return length > MAX_NAME_CHARS ? `is too long: its alias would have ${length} characters` : undefined;
}

/**
 * Part of a name, as names are kept: lower-case ASCII, `.example.com` as it stands. A label beyond ASCII is turned as a whole,
 * so only a whole one finds its names.
 */
export function toNameFragment(text: string): string {
  return text
    .split(/[.。．｡]/)
    .map((label) => (/^\p{ASCII}*$/u.test(label) ? '' : domainToASCII(label)) || label.toLowerCase())
    .join('.');
}

/** The wildcards that cover a name (or a wildcard's names), nearest first: `a.b.c` → `*.b.c`, `*.c`. Never itself. */
export function coveringWildcards(name: string): readonly string[] {
  const labels = name.split('.');
  return labels
    .slice(1)
    .map((_, index) => `*.${labels.slice(index + 1).join('.')}`)
    .filter((wildcard) => wildcard !== name);
}

/** Names that can stand in each other's way share this: the last two labels, for no wildcard is on a single one. */
export function conflictScope(name: string): string {
  return name.split('.').slice(-2).join('.');
}
