/** Request targets in absolute form, and the authority in them and in Host. RFC 9112 §3.2.2; RFC 9110 §4.2, §7.2 */

export type Scheme = 'http' | 'https';

export interface Authority {
  /** Lower-case, no port, no trailing dot. An IPv6 address keeps its brackets. */
  readonly host: string;
  /** `host`, with the port if that is not the scheme's. */
  readonly authority: string;
}

export interface AbsoluteForm extends Authority {
  readonly scheme: Scheme;
  /** The target in origin form. */
  readonly target: string;
}

/**
 * Parses a target in absolute form; `undefined` if it is in another form. `'invalid'`: an http or https URI without a
 * host, with a bad port, or with user information.
 */
export function parseAbsoluteForm(target: string): AbsoluteForm | 'invalid' | undefined {
  const match = ABSOLUTE.exec(target);
  if (match === null) return undefined;
  const [, written = '', authority = '', rest = ''] = match;
  const scheme = written.toLowerCase() === 'https' ? 'https' : 'http';
  const parsed = parseAuthority(authority, scheme);
  if (parsed === undefined) return 'invalid'; // RFC 9110 §4.2.1, §4.2.4
  return { ...parsed, scheme, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/**
 * Returns the target in origin form, as a server reads it that ignores the host. Other forms, and invalid targets, are
 * returned unchanged.
 */
export function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const absolute = parseAbsoluteForm(target);
  return typeof absolute === 'object' ? absolute.target : target;
}

/**
 * Whether a target in absolute form names another host or port than `host`, the Host field. False without a Host field.
 * docs/decisions/0466
 */
export function isForOtherHost(target: string, host: string | undefined): boolean {
  if (host === undefined || target.startsWith('/')) return false;
  const absolute = parseAbsoluteForm(target);
  return typeof absolute === 'object' && parseAuthority(host, absolute.scheme)?.authority !== absolute.authority;
}

/** Parses `uri-host [ ":" port ]` without user information; `undefined` if it is invalid. RFC 9110 §7.2 */
export function parseAuthority(text: string, scheme: Scheme): Authority | undefined {
  if (isPlainHost(text)) return { host: text, authority: text };
  const match = AUTHORITY.exec(text);
  if (match === null) return undefined;
  const [, written = '', port = ''] = match;
  const host = written.toLowerCase().replace(/\.$/, '');
  if (host === '' || Number(port) > 65535) return undefined;
  const isDefault = port === '' || Number(port) === DEFAULT_PORTS[scheme];
  return { host, authority: isDefault ? host : `${host}:${Number(port)}` };
}

/** Whether a text is a normalized host already, as nearly all are. A regular expression takes five times as long. */
function isPlainHost(text: string): boolean {
  const { length } = text;
  if (length === 0 || length > MAX_HOST_CHARS || text.charCodeAt(length - 1) === DOT) return false;
  for (let i = 0; i < length; i++) {
    const code = text.charCodeAt(i);
    const isLetter = code >= 0x61 && code <= 0x7a;
    const isDigit = code >= 0x30 && code <= 0x39;
    if (!isLetter && !isDigit && code !== DOT && code !== HYPHEN) return false;
  }
  return true;
}

const DOT = 0x2e;
const HYPHEN = 0x2d;
const MAX_HOST_CHARS = 254;
const ABSOLUTE = /^(https?):\/\/([^/?]*)(.*)$/i;
const AUTHORITY = /^([A-Za-z0-9._~-]{1,254}|\[[0-9A-Fa-f:.]{2,45}\])(?::(\d{0,5}))?$/;
const DEFAULT_PORTS = { http: 80, https: 443 } as const;
