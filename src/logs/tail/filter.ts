/** Which log lines somebody who follows a log wants: the filter's language, and the match of a line. Pure. */
import { createAddressSet, parseNetwork } from '#lib/cidr.ts';
import { CACHE_CODES, type CacheCode, LINE_FIELDS } from '../line.ts';

const FILTER_FIELDS = ['status', 'method', 'path', 'client', 'cache', 'edge'] as const;
type FilterField = (typeof FILTER_FIELDS)[number];

/** Alternatives of each field; a line must have one of each field that is there. Travels as JSON. */
export type LogFilter = Readonly<Partial<Record<FilterField, readonly string[]>>>;

export type ParsedFilter =
  | { readonly kind: 'filter'; readonly filter: LogFilter }
  /** `field`: absent if the term names none. */
  | { readonly kind: 'problem'; readonly term: string; readonly field: FilterField | undefined };

/** Words for several cache codes. */
const CACHE_WORDS: Readonly<Record<string, readonly CacheCode[]>> = {
  HIT: ['TCP_HIT', 'TCP_MEM_HIT', 'TCP_IMS_HIT', 'TCP_NEGATIVE_HIT', 'TCP_STALE_HIT', 'TCP_REFRESH_HIT'],
  MISS: ['TCP_MISS', 'TCP_REFRESH_MISS'],
  DENIED: ['TCP_DENIED'],
  ERROR: ['NONE'],
};

const CHECKS: Readonly<Record<FilterField, (value: string) => boolean>> = {
  status: (value) => /^[1-5]([0-9]{2}|xx)$/i.test(value),
  method: (value) => /^[A-Z-]{1,32}$/i.test(value),
  path: (value) => /^[/*]/.test(value),
  client: (value) => parseNetwork(value) !== undefined,
  cache: (value) => codesOf(value).length > 0,
  edge: (value) => /^[\w.-]{1,63}$/.test(value),
};

/** Parses terms such as `status=5xx path=/api/*,/v2/`, divided by blanks. */
export function parseFilter(text: string): ParsedFilter {
  const filter: { -readonly [F in FilterField]?: readonly string[] } = {};
  for (const term of text.split(/\s+/).filter((each) => each !== '')) {
    const [, name, list = ''] = /^([a-z]+)=(.+)$/.exec(term) ?? [];
    const field = FILTER_FIELDS.find((known) => known === name);
    const values = list.split(',');
    if (field === undefined || !values.every(CHECKS[field])) return { kind: 'problem', term, field };
    filter[field] = [...(filter[field] ?? []), ...values];
  }
  return { kind: 'filter', filter };
}

/** Returns the test of a line's 13 fields, as written by the edge of this id. Throws `RangeError` for an invalid network. */
export function compileFilter(filter: LogFilter, edge: string): (fields: readonly string[]) => boolean {
  const { status, method, path, client, cache } = filter;
  if (filter.edge !== undefined && !filter.edge.includes(edge)) return () => false;
  const statuses = status?.map((each) => each.toLowerCase().replace(/xx$/, ''));
  const methods = method && new Set(method.map((each) => each.toUpperCase()));
  const paths = path?.map(compilePath);
  const clients = client && createAddressSet(client);
  const codes = cache && new Set<string>(cache.flatMap(codesOf));
  return (fields) => {
    const [code = '', found = ''] = (fields[OUTCOME] ?? '').split('/');
    if (statuses !== undefined && !statuses.some((each) => found.startsWith(each))) return false;
    if (methods !== undefined && !methods.has(fields[METHOD] ?? '')) return false;
    if (codes !== undefined && !codes.has(code)) return false;
    if (clients !== undefined && !clients.has(fields[CLIENT] ?? '')) return false;
    if (paths === undefined) return true;
    const [target = ''] = (fields[TARGET] ?? '').split('?', 1);
    return paths.some((matches) => matches(target));
  };
}

const CLIENT = LINE_FIELDS.indexOf('clientAddress');
const METHOD = LINE_FIELDS.indexOf('method');
const TARGET = LINE_FIELDS.indexOf('target');
const OUTCOME = LINE_FIELDS.indexOf('outcome');

function codesOf(value: string): readonly CacheCode[] {
  const word = value.toUpperCase();
  return CACHE_WORDS[word] ?? CACHE_CODES.filter((code) => code === word);
}

/** A beginning, or with `*` for any text a pattern of the whole path. Takes linear time. */
function compilePath(path: string): (target: string) => boolean {
  const pieces = path.split('*');
  const [first = '', ...rest] = pieces;
  if (rest.length === 0) return (target) => target.startsWith(first);
  const last = rest.pop() ?? '';
  return (target) => {
    if (!target.startsWith(first)) return false;
    let at = first.length;
    for (const piece of rest) {
      const found = target.indexOf(piece, at);
      if (found === -1) return false;
      at = found + piece.length;
    }
    return target.length - last.length >= at && target.endsWith(last);
  };
}
