/** The grammar of host names and IP literals as specs carry them: lower-case ASCII, no brackets, no trailing dot. */
import { isIP } from 'node:net';

const MAX_NAME_CHARS = 253; // RFC 1035 §2.3.4, as text
/** Underscores are not for host names, but names with them resolve and are in use. */
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** One label is enough (`localhost`). A name whose last label is a number would be read as an address by resolvers. */
export function isHostName(text: string): boolean {
  if (text.length > MAX_NAME_CHARS) return false;
  const labels = text.split('.');
  return labels.every((label) => LABEL.test(label)) && !/^(?:\d+|0x[0-9a-f]*)$/.test(labels.at(-1) ?? '');
}

/** Hyphens may stand anywhere: names such as `a-.example.com` resolve, and browsers ask for them. */
const REQUEST_LABEL = /^[a-z0-9_-]{1,63}$/;

/** The hosts that a wildcard covers, and whose URLs are purged and prefetched: one grammar for both. Lower-case ASCII. */
export function isRequestHost(host: string): boolean {
  return host.length <= MAX_NAME_CHARS && host.split('.').every((label) => REQUEST_LABEL.test(label));
}

/** IPv4 in four decimal parts, or IPv6 without brackets or zone. */
export function isIpLiteral(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}
