/**
 * A domain as a TOML file: its name and type, and every setting that is not at its default. Names are those of the interface;
 * switches are booleans, lists are arrays. docs/decisions/0626
 */
import { parse, stringify, TomlError } from 'smol-toml';
import { SETTING_TOPICS, type SettingTopic, TOPIC_FIELDS, type TopicData } from '#contract/changes/setting-topics.ts';
import { CDN_TYPES } from '#contract/domains/domain-data.ts';
import type { Field, Fields } from '#contract/schema/fields.ts';
import { CliError } from '../command/context.ts';
import { lineOf } from './toml-lines.ts';

type Members = Readonly<Record<string, unknown>>;

/** Settings by topic, as requests have them. */
export type Topics = Readonly<Partial<Record<SettingTopic, Members>>>;

export interface DomainFile {
  readonly domain: string;
  readonly type: keyof typeof CDN_TYPES.codeOf;
  readonly icp_no: string;
  readonly remark: string;
  readonly settings: Topics;
}

const TYPES = Object.keys(CDN_TYPES.codeOf) as readonly DomainFile['type'][]; // of a table whose names are closed
/** Keys of the file besides the topics. */
const HEAD = { domain: '', type: '', icp_no: '', remark: '' };

/** Writes a file; equal domains make equal files. */
export function formatDomainFile({ settings, ...head }: DomainFile): string {
  const named = Object.entries(head).filter(([, value]) => value !== '');
  const topics = SETTING_TOPICS.flatMap((topic) => {
    const members = Object.entries(settings[topic] ?? {}).map(([name, value]) => {
      return [name, toToml(fieldOf(topic, name), value)];
    });
    return members.length === 0 ? [] : [[topic, Object.fromEntries(members)]];
  });
  return `${stringify(Object.fromEntries([...named, ...topics])).trimEnd()}\n`;
}

/** Returns the settings of `present` that differ from `defaults`. */
export function settingsBeyond(defaults: TopicData, present: TopicData): Topics {
  const topics = SETTING_TOPICS.map((topic) => {
    const usual: Members = defaults[topic] ?? {};
    const members = Object.entries(present[topic] ?? {}).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(usual[name]),
    );
    return [topic, Object.fromEntries(members)];
  });
  return Object.fromEntries(topics);
}

/** `file`: its name, for errors. Throws `CliError`; whether values are right is for the service to say. */
export function parseDomainFile(text: string, file: string): DomainFile {
  const content = readToml(text, file);
  const fail = (path: readonly string[], problem: string): never => {
    const line = lineOf(text, path);
    throw new CliError(`${file}${line === undefined ? '' : `:${line}`}: ${path.join('.')}: ${problem}`);
  };
  const topics = Object.entries(content).flatMap(([key, value]) => {
    if (Object.hasOwn(HEAD, key)) return [];
    const topic = SETTING_TOPICS.find((known) => known === key);
    if (topic === undefined)
      return fail([key], `unknown key; expected ${[...Object.keys(HEAD), ...SETTING_TOPICS].join(', ')}`);
    if (!isTable(value)) return fail([key], 'expected a table');
    return [[topic, readTable(TOPIC_FIELDS[topic], value, [key], fail)]];
  });
  const textAt = (key: keyof typeof HEAD) => {
    const value = content[key] ?? '';
    return typeof value === 'string' ? value : fail([key], 'expected a text');
  };
  const domain = textAt('domain');
  if (domain === '' || /^\d+$/.test(domain)) fail(['domain'], 'expected the name of the domain');
  const type =
    TYPES.find((known) => known === textAt('type')) ??
    fail(['type'], `expected ${TYPES.join(', ')}; found ${JSON.stringify(textAt('type'))}`);
  return { domain, type, icp_no: textAt('icp_no'), remark: textAt('remark'), settings: Object.fromEntries(topics) };
}

type Fail = (path: readonly string[], problem: string) => never;

function readToml(text: string, file: string): Members {
  try {
    return parse(text);
  } catch (error) {
    if (!(error instanceof TomlError)) throw error;
    const [problem = ''] = error.message.split('\n');
    throw new CliError(`${file}:${error.line}: ${problem}`, { cause: error });
  }
}

function readTable(fields: Fields, table: Members, path: readonly string[], fail: Fail): Members {
  const members = Object.entries(table).map(([name, value]) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return fail([...path, name], `unknown key; expected ${Object.keys(fields).join(', ')}`);
    return [name, fromToml(field, value, [...path, name], fail)];
  });
  return Object.fromEntries(members);
}

function fromToml(field: Field, value: unknown, path: readonly string[], fail: Fail): unknown {
  const { members } = field;
  if (members !== undefined && Array.isArray(value))
    return value.map((one) => (isTable(one) ? readTable(members, one, path, fail) : fail(path, 'expected tables')));
  if (isFlag(field)) return typeof value === 'boolean' ? Number(value) : fail(path, 'expected true or false');
  if (typeof value === 'bigint') return String(value);
  // JSON has no number for `inf` and `nan`: they would read as absent.
  if (typeof value === 'string' || Number.isFinite(value) || Array.isArray(value)) return value;
  return fail(path, `expected ${field.expects.en}`);
}

/** `value`: as answers have it. */
function toToml({ members, ...field }: Field, value: unknown): unknown {
  if (members !== undefined && Array.isArray(value))
    return value.map((one: Members) =>
      Object.fromEntries(Object.entries(one).map(([name, inside]) => [name, toToml(members[name] ?? field, inside)])),
    );
  if (isFlag(field)) return value === '1' || value === 1;
  if (field.separator === ',' && typeof value === 'string') return value === '' ? [] : value.split(',');
  return typeof value === 'string' && isNumber(field) ? Number(value) : value;
}

function fieldOf(topic: SettingTopic, name: string): Field {
  const field = (TOPIC_FIELDS[topic] as Fields)[name];
  if (field === undefined) throw new Error(`${topic} has no setting ${name}`); // never: the table has what answers have
  return field;
}

/** Whether the field is a switch, by what it makes of the interface's value. */
function isFlag({ schema }: Field): boolean {
  return schema.safeParse('1').data === true;
}

function isNumber({ schema }: Field): boolean {
  return schema.safeParse('1').data === 1;
}

function isTable(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Date);
}
