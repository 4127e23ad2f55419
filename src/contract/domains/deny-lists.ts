/**
 * Lists of what a domain refuses: a row for each list of the model, with its operations, and its words on the wire and in
 * commands. Edge rule 6, docs/decisions/0102
 */
import * as z from 'zod';
import { type DenyList, eachDenyList } from '../../model/domain.ts';
import { MAX_ACCESS_ENTRIES, MAX_USER_AGENT_ENTRY_CHARS } from '../../model/limits.ts';
import { commaList, type Field, type Fields, FLAG_TEXT, flag, optional } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';
import { membersSchema, type SchemasOf } from '../schema/members.ts';
import { changesSettings, readsSettings } from '../settings/domain-settings.ts';

/** Entries as written, before equal ones are merged. */
const MAX_ADDRESSES_WRITTEN = 1000;
const MAX_ADDRESS_LENGTH = 64;

/** A rule as a request has it. */
interface GivenList {
  readonly isOn: boolean;
  /** Absent: those that are stored. */
  readonly entries: readonly string[] | undefined;
}

interface ListRow<F extends Fields, D extends z.core.$ZodLooseShape> {
  /** What the operations set and get. */
  readonly called: Localized;
  /** The two fields of `fields`. */
  readonly flag: keyof F & string;
  readonly list: keyof F & string;
  readonly fields: F;
  readonly data: D;
  readonly sample: z.input<z.ZodObject<SchemasOf<F>>> & z.input<z.ZodObject<D>>;
  /** Equal entries are merged; absent: they are refused. */
  readonly isMerged?: true;
  readonly command: ListCommand;
  read(request: z.output<z.ZodObject<SchemasOf<F>>>): GivenList;
  /** Both fields, as a request and as an answer have them. */
  readonly write: {
    (isOn: boolean, entries: string[] | undefined): z.input<z.ZodObject<SchemasOf<F>>>;
    (isOn: boolean, entries: string): z.input<z.ZodObject<D>>;
  };
}

interface ListCommand {
  readonly name: string;
  /** Completes "show or change which … a domain refuses". */
  readonly what: string;
  readonly entries: string;
}

export const WIRE_DENY_LISTS = {
  userAgent: denyList({
    called: { 'zh-CN': 'User-Agent 黑名单', en: 'User-Agent rule' },
    flag: 'ua_control',
    list: 'ua_str',
    fields: {
      ua_control: flag,
      ua_str: optional(
        commaList({
          maxEntries: MAX_ACCESS_ENTRIES,
          maxLength: MAX_USER_AGENT_ENTRY_CHARS,
          expects: {
            'zh-CN': `1 到 ${MAX_ACCESS_ENTRIES} 个不重复的 User-Agent，每个至多 ${MAX_USER_AGENT_ENTRY_CHARS} 个字符且不含逗号，用逗号分隔或为数组；ua_control 为 0 或已保存过列表时可省略`,
            en: `1 to ${MAX_ACCESS_ENTRIES} User-Agents without duplicates, each at most ${MAX_USER_AGENT_ENTRY_CHARS} characters without a comma, comma-separated or an array; may be left out when ua_control is 0 or a list is stored`,
          },
          each: {
            'zh-CN': `User-Agent 或其一部分，至多 ${MAX_USER_AGENT_ENTRY_CHARS} 个字符且不含逗号`,
            en: `a User-Agent or part of one, of at most ${MAX_USER_AGENT_ENTRY_CHARS} characters without a comma`,
          },
        }),
      ),
    },
    data: {
      ua_control: FLAG_TEXT.describe('0 off, 1 on'),
      ua_str: z.string().describe('User-Agents, comma-separated; kept while the rule is off'),
    },
    sample: { ua_control: '1', ua_str: 'curl,*bot*' },
    command: { name: 'ua', what: 'User-Agents', entries: 'entries' },
    read: ({ ua_control, ua_str }) => ({ isOn: ua_control, entries: ua_str }),
    write: <E>(isOn: boolean, entries: E) => ({ ua_control: isOn ? '1' : '0', ua_str: entries }) as const,
  }),
  ip: denyList({
    called: { 'zh-CN': 'IP 黑名单', en: 'IP access rule' },
    flag: 'ip_type',
    list: 'ip_str',
    fields: {
      ip_type: { ...flag, expects: { 'zh-CN': '0（关闭）或 1（黑名单）', en: '0 (off) or 1 (blacklist)' } },
      ip_str: optional(
        commaList({
          maxEntries: MAX_ADDRESSES_WRITTEN,
          maxLength: MAX_ADDRESS_LENGTH,
          expects: {
            'zh-CN': `1 到 ${MAX_ACCESS_ENTRIES} 个不同的 IP 或网段（如 192.0.2.0/24），用逗号分隔或为数组；ip_type 为 0 或已保存过列表时可省略`,
            en: `1 to ${MAX_ACCESS_ENTRIES} different IP addresses or networks such as 192.0.2.0/24, comma-separated or an array; may be left out when ip_type is 0 or a list is stored`,
          },
          each: {
            'zh-CN': 'IP 或网段，如 192.0.2.1、192.0.2.0/24、2001:db8::/32',
            en: 'an IP address or a network, such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::/32',
          },
        }),
      ),
    },
    data: {
      ip_type: z.int().describe('0 off, 1 blacklist'), // the one switch that the interface document has as an int
      ip_str: z.string().describe('addresses and networks, comma-separated; kept while the rule is off'),
    },
    sample: { ip_type: 1, ip_str: '192.0.2.1,2001:db8::/32' },
    isMerged: true, // the interface document forbids repetitions only in the other lists
    command: { name: 'ip', what: 'client addresses and networks', entries: 'addresses' },
    read: ({ ip_type, ip_str }) => ({ isOn: ip_type, entries: ip_str }),
    write: <E>(isOn: boolean, entries: E) => ({ ip_type: isOn ? 1 : 0, ip_str: entries }) as const,
  }),
} satisfies Readonly<Record<DenyList, unknown>>;

type Verb = 'set' | 'get';
type ListOperation<V extends Verb, L extends DenyList> = `config.${V}${Capitalize<L>}`;

/** One member of each row, by the names of the lists' operations. */
export function byOperation<
  V extends Verb,
  M extends string,
  T extends Readonly<Record<DenyList, Readonly<Record<M, unknown>>>>,
>(verb: V, rows: T, member: M): { readonly [L in DenyList as ListOperation<V, L>]: T[L][M] } {
  const members = Object.values(eachDenyList((list) => [operationOf(verb, list), rows[list][member]]));
  return Object.fromEntries(members) as ReturnType<typeof byOperation<V, M, T>>; // fromEntries forgets the names
}

export function operationOf<V extends Verb, L extends DenyList>(verb: V, list: L): ListOperation<V, L> {
  const capitalized = list.charAt(0).toUpperCase() + list.slice(1);
  return `config.${verb}${capitalized}` as ListOperation<V, L>; // a text of two parts is not a literal type
}

function denyList<F extends Fields, const D extends z.core.$ZodLooseShape>(row: ListRow<F, D>) {
  const { called, flag: when, list, fields, data, sample, read } = row;
  return {
    ...row,
    entries: fieldOf(fields, list),
    change: changesSettings(
      { 'zh-CN': `设置 ${called['zh-CN']}`, en: `Sets a domain's ${called.en}` },
      fields,
      sample,
      // Omitted, the list may be stored: only the handler can tell. docs/decisions/0102
      (request) => {
        const given = read(request);
        return given.isOn && given.entries?.length === 0 ? list : undefined;
      },
      [{ when, holds: (isOn) => isOn === false, fields: [list] }],
    ),
    show: readsSettings({ 'zh-CN': `查询 ${called['zh-CN']}`, en: `Gets a domain's ${called.en}` }, data, sample),
    /** Reads an answer. */
    parse: (answer: unknown) => read(membersSchema(fields).parse(answer)),
  };
}

function fieldOf<N extends string>(fields: Readonly<Record<N, Field>>, name: N): Field {
  return fields[name];
}
