/** Lines of a log, and the filter that narrows it. Pure. */
import type { LogItem } from '#client/follow-log.ts';

/** Fields of `filter` in `log.tail` and `log.search`. */
export const FILTER_FIELDS = ['status', 'cache', 'method', 'path', 'client', 'edge'] as const;
type FilterField = (typeof FILTER_FIELDS)[number];
export type Filter = Readonly<Record<FilterField, string>>;

export const NO_FILTER: Filter = { status: '', cache: '', method: '', path: '', client: '', edge: '' };

/** Blanks divide terms, so they may not be within one: around commas they are left out, others are written as in a path. */
export function writeFilter(filter: Filter): string {
  return FILTER_FIELDS.flatMap((field) => {
    const value = filter[field]
      .trim()
      .replace(/\s*,\s*/g, ',')
      .replace(/\s+/g, '%20');
    return value === '' ? [] : [`${field}=${value}`];
  }).join(' ');
}

/** What `writeFilter` has written; terms that it would not write are left out. */
export function readFilter(text: string): Filter {
  const given = new Map(
    text.split(/\s+/).flatMap((term): [string, string][] => {
      const at = term.indexOf('=');
      return at === -1 ? [] : [[term.slice(0, at), term.slice(at + 1)]];
    }),
  );
  const fields = FILTER_FIELDS.map((field) => [field, given.get(field) ?? '']);
  return Object.fromEntries(fields) as Filter; // of the names above
}

/** Fields of a line, in the order of the dialog. */
export const LINE_FIELDS = [
  'time',
  'edge',
  'client',
  'method',
  'host',
  'target',
  'protocol',
  'status',
  'cache',
  'duration_ms',
  'request_bytes',
  'response_bytes',
  'content_type',
  'referer',
  'user_agent',
] as const;
export type LineField = (typeof LINE_FIELDS)[number];

export interface Line {
  /** Unlike those of the other lines. */
  readonly id: number;
  readonly fields: Readonly<Record<LineField, string>>;
}

type End = 'time' | 'stopping' | 'domain' | 'lost';

export interface Followed {
  /** The latest first. */
  readonly lines: readonly Line[];
  /** Lines that matched and were left out by the service. */
  readonly dropped: number;
  readonly end: End | undefined;
}

export const NOTHING_FOLLOWED: Followed = { lines: [], dropped: 0, end: undefined };

export const KEPT_LINES = 500;

/** Adds new items of the stream. */
export function withItems(before: Followed, items: readonly LogItem[]): Followed {
  let id = before.lines[0]?.id ?? 0;
  let { dropped, end } = before;
  const lines: Line[] = [];
  for (const item of items) {
    if (item['dropped'] !== undefined) dropped += Number(item['dropped']);
    else if (item['end'] !== undefined) end = endOf(item['end']);
    else if (item['edge'] !== undefined) {
      id += 1;
      lines.unshift({ id, fields: fieldsOf(item) });
    }
  }
  return { lines: [...lines, ...before.lines].slice(0, KEPT_LINES), dropped, end };
}

function endOf(word: unknown): End {
  return word === 'time' || word === 'stopping' || word === 'domain' ? word : 'lost';
}

/** `-`: empty or absent, as in the log. */
export function fieldsOf(item: LogItem): Line['fields'] {
  const fields = LINE_FIELDS.map((field) => [field, String(item[field] ?? '-')]);
  return Object.fromEntries(fields) as Line['fields']; // of the names above
}

/** The lines as rows of a table, with all fields. */
export function cellsOf(lines: readonly Line[]): readonly (readonly string[])[] {
  return lines.map(({ fields }) => LINE_FIELDS.map((field) => fields[field]));
}

/** Address that the line's request asked for, to be explained. The log does not say whether it was over TLS. */
export function urlOf({ host, target }: Line['fields']): string {
  return `http://${host}${target.startsWith('/') ? target : '/'}`;
}
