/**
 * Resolves a table of settings from its sources: default < file < environment < flag. Knows no setting by name, reads
 * nothing itself, and reports all problems.
 */
import { parse, TomlError } from 'smol-toml';
import { nearest } from './nearest.ts';
import type { Reader } from './setting-reader.ts';

/** A setting. Its name in the file and as a flag is its key in kebab-case. */
export interface Setting<T> {
  readonly reader: Reader<T>;
  /** Default, written as a user would write it. Absent: the setting is unset. */
  readonly default?: string;
  readonly unit?: string;
  readonly description: string;
  /** Environment variable, if it is not the prefix and the name. */
  readonly env?: string;
  /** Never shown, and never a flag: other users of the machine can read a command line. */
  readonly secret?: true;
}

/** Settings by key. */
export type ConfigTable = Readonly<Record<string, Setting<unknown>>>;

/** The values of a table's settings. Those without a default may be unset. */
export type ValuesOf<T extends ConfigTable> = {
  readonly [K in keyof T as T[K] extends { readonly default: string } ? K : never]: ValueOf<T[K]>;
} & { readonly [K in keyof T as T[K] extends { readonly default: string } ? never : K]?: ValueOf<T[K]> };

type ValueOf<S> = S extends Setting<infer V> ? V : never;

export interface SettingProblem {
  readonly setting: string;
  readonly source: string;
  readonly problem: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

export interface SettingsFile {
  readonly path: string;
  /** TOML. */
  readonly text: string;
}

export interface SettingSources {
  /** Flags by name, without the dashes. */
  readonly flags: Readonly<Record<string, string>>;
  readonly env: Environment;
  readonly file?: SettingsFile | undefined;
}

/** The text given for a setting, before it is parsed. */
export interface SettingText {
  readonly text: string;
  readonly source: string;
}

/** Shown instead of a secret. */
export const HIDDEN = '***';

/** A setting as `causeway config` shows it. The value is hidden for a secret, and empty if the setting is unset. */
export interface SettingInForce {
  readonly name: string;
  readonly value: string;
  readonly source: string;
}

const ENV_PREFIX = 'CAUSEWAY_';

export const DEFAULT_SOURCE = 'default';

/** `dataDir` → `data-dir` */
export function settingName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

export function settingVariable(key: string, setting: Setting<unknown>): string {
  return setting.env ?? ENV_PREFIX + settingName(key).replaceAll('-', '_').toUpperCase();
}

/** Finds the effective text of each key; keys that are not given and have no default are absent. */
export function gatherTexts(
  table: ConfigTable,
  sources: SettingSources,
): { texts: Map<string, SettingText>; problems: SettingProblem[] } {
  const file = readFile(table, sources.file);
  const problems = [...file.problems, ...unknownVariables(table, sources.env)];
  const texts = new Map<string, SettingText>();
  for (const [key, setting] of Object.entries(table)) {
    const name = settingName(key);
    const variable = settingVariable(key, setting);
    const candidates: (SettingText | undefined)[] = [
      given(sources.flags[name], `--${name}`),
      // Container tools set an empty variable for an unset value.
      given(sources.env[variable] || undefined, variable),
      file.texts.get(name),
      given(setting.default, DEFAULT_SOURCE),
    ];
    const found = candidates.find((candidate) => candidate !== undefined);
    if (found !== undefined) texts.set(key, found);
  }
  return { texts, problems };
}

/** Lists all settings in the order of the table. */
export function showSettings(table: ConfigTable, texts: ReadonlyMap<string, SettingText>): SettingInForce[] {
  return Object.entries(table).map(([key, setting]) => {
    const { text = '', source = DEFAULT_SOURCE } = texts.get(key) ?? {};
    return { name: settingName(key), value: setting.secret === true && text !== '' ? HIDDEN : text, source };
  });
}

/** Whether the environment variable belongs to the table or has the prefix of settings. */
export function isSettingVariable(table: ConfigTable, variable: string): boolean {
  return variable.startsWith(ENV_PREFIX) || Object.values(table).some(({ env }) => env === variable);
}

function given(text: string | undefined, source: string): SettingText | undefined {
  return text === undefined ? undefined : { text, source };
}

function readFile(
  table: ConfigTable,
  file: SettingsFile | undefined,
): { texts: Map<string, SettingText>; problems: SettingProblem[] } {
  const texts = new Map<string, SettingText>();
  if (file === undefined) return { texts, problems: [] };
  let content: Record<string, unknown>;
  try {
    content = parse(file.text);
  } catch (error) {
    const problem = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
    const place = error instanceof TomlError ? `, line ${error.line}, column ${error.column}` : '';
    return { texts, problems: [{ setting: 'config', source: `${file.path}${place}`, problem }] };
  }
  const names = Object.keys(table).map(settingName);
  const problems: SettingProblem[] = [];
  for (const [name, value] of Object.entries(content)) {
    const text = textOf(value);
    if (!names.includes(name)) problems.push({ setting: name, source: file.path, problem: unknown(name, names) });
    else if (text === undefined)
      problems.push({ setting: name, source: file.path, problem: 'expected a text, a number or an array of texts' });
    else texts.set(name, { text, source: file.path });
  }
  return { texts, problems };
}

function textOf(value: unknown): string | undefined {
  if (Array.isArray(value)) return value.every((item) => typeof item === 'string') ? value.join(',') : undefined;
  return ['string', 'number', 'bigint', 'boolean'].includes(typeof value) ? String(value) : undefined;
}

function unknownVariables(table: ConfigTable, env: Environment): SettingProblem[] {
  const known = Object.entries(table).map(([key, setting]) => settingVariable(key, setting));
  return Object.keys(env)
    .filter((variable) => variable.startsWith(ENV_PREFIX) && !known.includes(variable))
    .map((variable) => ({ setting: variable, source: 'environment', problem: unknown(variable, known) }));
}

function unknown(name: string, known: readonly string[]): string {
  const meant = nearest(name, known);
  return meant === undefined ? 'unknown setting' : `unknown setting; did you mean ${meant}?`;
}
