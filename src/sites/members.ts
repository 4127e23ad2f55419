/** Reads the members of a spec, of which nothing is known yet. The first problem ends the compiling. */
import { unreachable } from '#lib/unreachable.ts';
import { MAX_RULES } from '#model/limits.ts';
import { mapSettings, type SettingRow, type SettingsOf, type SettingTable } from '#model/settings.ts';

/** A fault in a spec; the message names the member, what was expected and what was found. Caught by `compileSite`. */
export class SpecProblem extends Error {}

export function readObject(member: string, value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw expected(member, 'an object', value);
  return Object.fromEntries(Object.entries(value));
}

export function readText(member: string, value: unknown): string {
  if (typeof value !== 'string') throw expected(member, 'a text', value);
  return value;
}

export function readInteger(member: string, value: unknown, max: number, min = 1): number {
  if (typeof value !== 'number' || !Number.isInteger(value) || value < min || value > max) {
    throw expected(member, `an integer from ${min} to ${max}`, value);
  }
  return value;
}

export function readOneOf<T extends string | boolean>(member: string, value: unknown, allowed: readonly T[]): T {
  const found = allowed.find((item) => item === value);
  if (found === undefined) throw expected(member, `one of ${allowed.join(', ')}`, value);
  return found;
}

/** Reads the members of a table; an absent one has its default. */
export function readSettings<T extends SettingTable>(
  prefix: string,
  table: T,
  members: Readonly<Record<string, unknown>>,
): SettingsOf<T> {
  return mapSettings(table, (member, row) => {
    const { [member]: value = row.default } = members;
    return readSetting(prefix + member, row, value);
  });
}

function readSetting(member: string, row: SettingRow, value: unknown): unknown {
  switch (row.kind) {
    case 'switch':
      return readOneOf(member, value, [true, false]);
    case 'seconds':
      return readInteger(member, value, row.max, 0);
    case 'number':
      return readInteger(member, value, row.max, row.min);
    case 'text':
      return readText(member, value);
    case 'choice':
      return readOneOf(member, value, row.of);
    default:
      return unreachable(row);
  }
}

/** What was found is cut short: it comes from outside and goes into logs and reports. */
export function expected(member: string, what: string, found: unknown): SpecProblem {
  return new SpecProblem(`${member}: expected ${what}, found ${(JSON.stringify(found) ?? 'nothing').slice(0, 100)}`);
}

/**
 * Reads a list of rules and compiles it; `undefined` for an empty or absent one. A `RangeError` of `compile` is a
 * problem of the spec.
 */
export function readRules<R, T>(
  member: string,
  value: unknown,
  read: (member: string, value: unknown) => R,
  compile: (rules: readonly R[]) => T,
): T | undefined {
  if (value === undefined) return undefined;
  if (!Array.isArray(value) || value.length > MAX_RULES)
    throw expected(member, `a list of at most ${MAX_RULES}`, value);
  if (value.length === 0) return undefined;
  const rules = value.map((item, index) => read(`${member}[${index}]`, item));
  try {
    return compile(rules);
  } catch (error) {
    if (error instanceof RangeError) throw new SpecProblem(`${member}: ${error.message}`, { cause: error });
    throw error;
  }
}
