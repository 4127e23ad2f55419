/** Header fields that a site sets, adds or removes on its answers. docs/decisions/0638 */
import { FieldNames } from '#http/field-names.ts';
import { type RawHeaders, withoutFields } from '#http/headers.ts';
import { MAX_HEADER_NAME_CHARS, MAX_HEADER_VALUE_CHARS, MAX_HEADERS_CHARS } from '#model/limits.ts';
import { HEADER_ACTIONS, type HeaderRule } from '#model/rules.ts';
import { readObject, readOneOf, readRules, readText } from './members.ts';

export interface SiteHeaders {
  readonly removed: FieldNames;
  readonly added: RawHeaders;
}

/** Fields of the connection, of the body's framing and form, of the cache, and those that have a setting of their own. */
const OWN_FIELDS: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'proxy-authenticate',
  'proxy-authorization',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'http2-settings',
  'content-length',
  'content-encoding',
  'content-range',
  'content-type',
  'content-location',
  'accept-ranges',
  'etag',
  'last-modified',
  'vary',
  'date',
  'age',
  'expires',
  'via',
  'x-cache',
  'cache-status',
  'location',
  'retry-after',
  'alt-svc',
  'strict-transport-security',
]);

/** Why a name cannot be used: completes the sentence "the name …". `undefined`: it can. */
export function checkHeaderName(name: string): string | undefined {
  if (name.length > MAX_HEADER_NAME_CHARS) return `is longer than ${MAX_HEADER_NAME_CHARS} characters`;
  if (!/^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(name)) return 'is not a name of a header field'; // RFC 9110 §5.6.2
  return OWN_FIELDS.has(name.toLowerCase()) ? 'is a field that the service sets itself' : undefined;
}

/** Why a value cannot be used; `undefined`: it can. */
export function checkHeaderValue({ action, value }: Pick<HeaderRule, 'action' | 'value'>): string | undefined {
  if (action === 'remove') return undefined;
  if (value.length > MAX_HEADER_VALUE_CHARS) return `is longer than ${MAX_HEADER_VALUE_CHARS} characters`;
  if (!/^[ -~]*$/.test(value)) return 'has characters other than printable ASCII';
  return value.trim() === value && value !== '' ? undefined : 'is empty, or begins or ends with a blank';
}

export function areHeadersTooLarge(rules: readonly Pick<HeaderRule, 'name' | 'value'>[]): boolean {
  return rules.reduce((sum, { name, value }) => sum + name.length + value.length, 0) > MAX_HEADERS_CHARS;
}

/** Returns the fields of an answer as the site has them. */
export function withSiteHeaders(headers: RawHeaders, { removed, added }: SiteHeaders): RawHeaders {
  return [...withoutFields(headers, removed), ...added];
}

/** Returns `undefined` for no rules. Throws `SpecProblem`. */
export function readResponseHeaders(value: unknown): SiteHeaders | undefined {
  return readRules('responseHeaders', value, readRule, compileRules);
}

function readRule(member: string, value: unknown): HeaderRule {
  const members = readObject(member, value);
  return {
    action: readOneOf(`${member}.action`, members['action'], HEADER_ACTIONS),
    name: readText(`${member}.name`, members['name']),
    value: readText(`${member}.value`, members['value']),
  };
}

function compileRules(rules: readonly HeaderRule[]): SiteHeaders {
  if (areHeadersTooLarge(rules)) throw new RangeError(`more than ${MAX_HEADERS_CHARS} characters`);
  const removed = new Set<string>();
  let added: readonly HeaderRule[] = [];
  for (const rule of rules) {
    const { action, name } = rule;
    const badName = checkHeaderName(name);
    if (badName !== undefined) throw new RangeError(`the name ${badName}`);
    const badValue = checkHeaderValue(rule);
    if (badValue !== undefined) throw new RangeError(`the value ${badValue}`);
    const lower = name.toLowerCase();
    if (action !== 'add') {
      removed.add(lower);
      added = added.filter((other) => other.name.toLowerCase() !== lower);
    }
    if (action !== 'remove') added = [...added, rule];
  }
  return { removed: new FieldNames([...removed]), added: added.flatMap(({ name, value }) => [name, value]) };
}
