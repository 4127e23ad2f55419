/**
 * Converts host names as people write them to lower-case ASCII. Domain names and origins share it; both refuse text
 * that is not a host.
 */
import { domainToASCII, domainToUnicode } from 'node:url';

const MAX_NAME_CHARS = 253; // RFC 1035 §2.3.4, as text
/** What a URL parser would take for something else than a host's letter; it must never see them. */
const NOT_A_NAME = /[\p{Cc}\s/\\@:%?#[\]<>^|"`{}*]/u;

export type HostText =
  | { readonly kind: 'host'; readonly host: string }
  | { readonly kind: 'invalid'; readonly reason: string };

/** IDNA to ASCII (RFC 5891, as in WHATWG URL), lower case, one trailing dot dropped. Labels are letters, digits, `-` and `_`. */
export function parseHostText(text: string): HostText {
  const written = text.endsWith('.') ? text.slice(0, -1) : text;
  if (written === '') return invalid('is empty');
  if (written.length > MAX_NAME_CHARS) return invalid(`is longer than ${MAX_NAME_CHARS} characters`);
  if (NOT_A_NAME.test(written)) return invalid('contains characters that host names cannot have');
  if (isNumericLabel(written.split('.').at(-1) ?? ''))
    return invalid('ends in a number: it would be read as an IP address');
  const host = domainToASCII(written);
  if (host === '' || hasUndecodable(host)) return invalid('is not a host name in IDNA');
  if (host.length > MAX_NAME_CHARS) return invalid(`is longer than ${MAX_NAME_CHARS} characters in ASCII`);
  const bad = host.split('.').find((label) => !/^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/.test(label));
  if (bad !== undefined) return invalid(`has a part that is not 1 to 63 letters, digits or inner hyphens: '${bad}'`);
  // Digits of other scripts become ASCII digits on the way.
  if (isNumericLabel(host.split('.').at(-1) ?? ''))
    return invalid('ends in a number: it would be read as an IP address');
  return { kind: 'host', host };
}

function isNumericLabel(label: string): boolean {
  return /^(?:\d+|0x[0-9a-f]*)$/i.test(label);
}

/** The URL parser lets `xn--` labels pass that decode to nothing; decoding leaves those as they are. */
function hasUndecodable(host: string): boolean {
  const unicode = domainToUnicode(host);
  return /(?:^|\.)xn--/.test(unicode) || domainToASCII(unicode) !== host;
}

function invalid(reason: string): HostText {
  return { kind: 'invalid', reason };
}
