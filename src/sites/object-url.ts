/**
 * The URL of an object as a customer writes it, in the form in which the edge knows it: the host that a site is found by and
 * the cache key's path and query. What the edge would not take as a request has no object.
 */
import { splitTarget } from '#http/target.ts';
import { type HostText, parseHostText } from '#model/host-text.ts';
import { isIpLiteral, isRequestHost } from './host-name.ts';

export interface ObjectUrl {
  readonly kind: 'url';
  /** Makes no difference to a purge; a prefetch asks the origin with it where the site follows the client. */
  readonly scheme: 'http' | 'https';
  /** Lower-case ASCII; a port is left out, for the cache key has none. */
  readonly host: string;
  /** Origin-form, as a viewer would send it. */
  readonly target: string;
  /** `target` as in the cache key. */
  readonly keyTarget: string;
}

/** `reason` completes the sentence "the URL …". */
export type ParsedObjectUrl = ObjectUrl | { readonly kind: 'invalid'; readonly reason: string };

/** Characters beyond ASCII and blanks are written as browsers send them: percent-encoded UTF-8. */
export function parseObjectUrl(text: string): ParsedObjectUrl {
  const [, written, authority = '', rest = ''] = /^(https?):\/\/([^/?#]*)(.*)$/is.exec(text) ?? [];
  if (written === undefined) return invalid('does not begin with http:// or https://');
  if (authority.includes('@')) return invalid('has a user name');
  if (rest.includes('#')) return invalid('has a fragment (#), which no server ever sees');
  if (/\p{Cc}/u.test(rest) || !rest.isWellFormed()) return invalid('contains control characters');
  if (/%(?![0-9a-f]{2})/i.test(rest)) return invalid('has a % without two hexadecimal digits');
  const [, name = '', port = '0'] = /^(.*?)(?::(\d{0,5}))?$/s.exec(authority) ?? [];
  if (Number(port) > MAX_PORT) return invalid('has no valid port');
  const host = parseHost(name);
  if (host.kind === 'invalid') return invalid(`has a host that ${host.reason}`);
  const target = (rest.startsWith('/') ? rest : `/${rest}`).replace(/[^!-~]+/g, encodeURI);
  const { keyPath, query } = splitTarget(target);
  const scheme = written.toLowerCase() === 'https' ? 'https' : 'http';
  return { kind: 'url', scheme, host: host.host, target, keyTarget: keyPath + query };
}

const MAX_PORT = 65_535;

/**
 * Accepts every host that can serve a viewer; `parseHostText` decides about non-ASCII text and text that is not a host.
 */
function parseHost(written: string): HostText {
  const host = written.toLowerCase().replace(/\.$/, '');
  return isRequestHost(host) && !isIpLiteral(host) ? { kind: 'host', host } : parseHostText(written);
}

function invalid(reason: string): ParsedObjectUrl {
  return { kind: 'invalid', reason };
}
