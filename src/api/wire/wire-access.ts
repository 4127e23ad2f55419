/** The referer, User-Agent and IP rules, their words on the wire and in the model. Used by `wire.ts`. docs/decisions/0101 */
import { REFERER_LIST, REFERER_TYPES } from '#contract/domains/access-operations.ts';
import { byOperation, WIRE_DENY_LISTS } from '#contract/domains/deny-lists.ts';
import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { Field } from '#contract/schema/fields.ts';
import { describeFound, quote } from '#contract/schema/found.ts';
import type { Localized } from '#contract/schema/locale.ts';
import { type DenyList, type Domain, eachDenyList, type RefererSettings } from '#model/domain.ts';
import { MAX_ACCESS_ENTRIES } from '#model/limits.ts';
import { DENY_RULES } from '#sites/access.ts';
import type { ParsedEntry } from '#sites/address-list.ts';
import { parseRefererEntry } from '#sites/referer.ts';
import { readDomainId, writeFlag, writeRevision } from './wire-values.ts';
import type { Writers } from './writers.ts';

export type AccessRoute = `config.${'set' | 'get'}${'Referer' | Capitalize<DenyList>}`;

const LISTS = eachDenyList(wireList) as { readonly [L in DenyList]: WireList<L> }; // the callback sees no single list

/** Absent members stay as they are. */
export const READ_ACCESS = {
  'config.setReferer': readReferer,
  'config.getReferer': readDomainId,
  ...byOperation('set', LISTS, 'read'),
  ...byOperation('get', LISTS, 'readId'),
} satisfies { readonly [N in AccessRoute]: (request: RequestOf<N>) => unknown };

export const WRITE_ACCESS = {
  'config.getReferer': (domain: Domain) => ({ ...writeReferer(domain.settings.referer), ...writeRevision(domain) }),
  ...byOperation('get', LISTS, 'write'),
} satisfies Writers<AccessRoute>;

function readReferer(request: RequestOf<'config.setReferer'>) {
  const { domain_id, referer_type, referer_blank, referer_str = [] } = request;
  const entries = readUnlessOff(referer_type === '0', () => {
    const list = readList('referer_str', REFERER_LIST.each, parseRefererEntry, referer_str);
    refuseRepeated(list);
    return entriesOf(list);
  });
  return { domainId: domain_id, mode: REFERER_TYPES.valueOf[referer_type], allowsBlank: referer_blank, entries };
}

/** How the operations of a list read and write it. */
interface WireList<L extends DenyList> {
  readonly readId: typeof readDomainId;
  read(request: RequestOf<`config.set${Capitalize<L>}`>): ReadList;
  write(domain: Domain): DataOf<`config.get${Capitalize<L>}`>;
}

interface ReadList {
  readonly domainId: number;
  readonly isOn: boolean;
  readonly entries: readonly string[] | undefined;
}

function wireList(name: DenyList) {
  const row: ListRow = WIRE_DENY_LISTS[name];
  return {
    readId: readDomainId,
    read: (request: { readonly domain_id: number }): ReadList => {
      const { isOn, entries: texts = [] } = row.read(request);
      const entries = readUnlessOff(!isOn, () => readDenied(row, DENY_RULES[name].parse, texts));
      return { domainId: request.domain_id, isOn, entries };
    },
    write: (domain: Domain) => {
      const { isOn, entries } = domain.settings[name];
      const answer = { ...row.write(isOn, entries.join(',')), ...writeRevision(domain) };
      return answer as DataOf<`config.get${Capitalize<DenyList>}`>; // the answer of this list's operation
    },
  };
}

/** A row of the contract, whichever list it describes. */
interface ListRow {
  /** Name of the field with the entries, and the field. */
  readonly list: string;
  readonly entries: Field;
  readonly isMerged?: true;
  /** `request`: one that the operation's schema has accepted. */
  read(request: object): { readonly isOn: boolean; readonly entries: readonly string[] | undefined };
  write(isOn: boolean, entries: string): object;
}

/** Reads the entries; of equal ones that are merged the first counts. */
function readDenied(
  { list: field, entries: { each, expects }, isMerged }: ListRow,
  parse: (text: string) => ParsedEntry,
  texts: readonly string[],
): readonly string[] | undefined {
  const list = readList(field, each ?? expects, parse, texts);
  if (isMerged !== true) refuseRepeated(list);
  const entries = entriesOf(list);
  if (entries !== undefined && entries.length > MAX_ACCESS_ENTRIES)
    throw new ServiceError('fieldInvalid', { field, expected: expects, found: describeFound(entries) });
  return entries;
}

function writeReferer({ mode, allowsBlank, entries }: RefererSettings): Omit<DataOf<'config.getReferer'>, 'revision'> {
  return {
    referer_type: REFERER_TYPES.codeOf[mode],
    referer_blank: writeFlag(allowsBlank),
    referer_str: entries.join(','),
  };
}

/** The list of a rule that is off is not needed: one that cannot be read counts as absent. docs/decisions/0445 */
function readUnlessOff(isOff: boolean, read: () => readonly string[] | undefined): readonly string[] | undefined {
  try {
    return read();
  } catch (error) {
    if (isOff && error instanceof ServiceError) return undefined;
    throw error;
  }
}

/** One entry of a list, and where in the request it stands. */
interface WrittenEntry {
  readonly field: string;
  readonly written: string;
  /** The canonical spelling of the entry. */
  readonly entry: string;
}

export function readList(
  name: string,
  expected: Localized,
  parse: (text: string) => ParsedEntry,
  texts: readonly string[],
): readonly WrittenEntry[] {
  return texts.map((written, index) => {
    const field = `${name}[${index}]`;
    const parsed = parse(written);
    if (parsed.kind === 'entry') return { field, written, entry: parsed.entry };
    throw new ServiceError('entryInvalid', {
      field,
      expected,
      entry: quote(written),
      reason: localizeReason(parsed.reason),
    });
  });
}

function refuseRepeated(list: readonly WrittenEntry[]): void {
  const seen = new Map<string, WrittenEntry>();
  for (const item of list) {
    const first = seen.get(item.entry);
    if (first !== undefined) {
      const { field, written } = item;
      throw new ServiceError('entryRepeated', { field, entry: quote(written), first: first.field });
    }
    seen.set(item.entry, item);
  }
}

/** `undefined` for an empty list: a rule that is on has entries, and one that is off keeps the stored ones. */
export function entriesOf(list: readonly WrittenEntry[]): readonly string[] | undefined {
  return list.length === 0 ? undefined : [...new Set(list.map(({ entry }) => entry))];
}
