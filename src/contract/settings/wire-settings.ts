/**
 * A table of settings as the interface has it: fields of requests, schemas of answers, samples, and the way between the
 * wire's names and the model's, all in the order of the rows. docs/decisions/0512
 */
import * as z from 'zod';
import type { SettingRow, SettingsOf, SettingTable, ValueOf } from '../../model/settings.ts';
import { choice, clearable, type Field, FLAG_TEXT, flag, integer, optional, text } from '../schema/fields.ts';
import type { Localized } from '../schema/locale.ts';

interface WireRow<V = unknown> {
  readonly wire: string;
  /** Description in the schema of answers. */
  readonly means: string;
  /** Completes the sentence "field x: expected …"; absent: the one of its kind. */
  readonly expects?: Localized;
  /** Value in samples; absent: the default. */
  readonly sample?: V;
  /** Another operation changes the setting. */
  readonly isSetElsewhere?: true;
  /** What the option of the command does; absent: there is none. */
  readonly help?: string;
  /** The option; absent: `--` and the wire's name. */
  readonly option?: string;
}

type WireRows<T extends SettingTable> = { readonly [M in keyof T]: WireRow<ValueOf<T[M]>> };

/** A request's field: a value of the model, from what may be sent. */
type SchemaOf<R> = z.ZodType<ValueOf<R>, R extends { readonly kind: 'switch' } ? '0' | '1' | 0 | 1 : string | number>;

type DataOf<R> = R extends { readonly of: readonly (infer C extends string)[] }
  ? z.ZodEnum<{ [V in C]: V }>
  : R extends { readonly kind: 'seconds' | 'text' }
    ? z.ZodString
    : R extends { readonly kind: 'number' }
      ? z.ZodInt
      : typeof FLAG_TEXT;

/** Members of a table that its own operation changes. */
type Changed<T, W> = { [M in keyof T & keyof W]: W[M] extends { readonly isSetElsewhere: true } ? never : M }[keyof T &
  keyof W];
type NameOf<W, M extends keyof W> = W[M] extends { readonly wire: infer N extends string } ? N : never;

export interface WireSettings<T extends SettingTable, W> {
  /** Kind, bounds and words of each setting, in the order of the wire. */
  readonly rows: readonly Row[];
  readonly fields: { readonly [M in Changed<T, W> as NameOf<W, M>]: Field<SchemaOf<T[M]>> };
  readonly optionalFields: {
    readonly [M in Changed<T, W> as NameOf<W, M>]: Field<z.ZodOptional<SchemaOf<T[M]>>>;
  };
  readonly data: { readonly [M in keyof T & keyof W as NameOf<W, M>]: DataOf<T[M]> };
  /** Numbers, as the interface document's samples have them. */
  readonly sampleRequest: { readonly [M in Changed<T, W> as NameOf<W, M>]: SampleOf<T[M]> };
  readonly sampleData: Answer<T, W>;
  /** Answer of a domain on which nothing has been set. */
  readonly defaultData: Answer<T, W>;
  write(settings: SettingsOf<T>): Answer<T, W>;
  /** The members of a decoded request; those whose fields it does not have are left out. */
  read(request: Asked<T, W>): Pick<SettingsOf<T>, Changed<T, W>>;
  readGiven(
    request: { readonly [N in keyof Asked<T, W>]?: Asked<T, W>[N] | undefined },
  ): Partial<Pick<SettingsOf<T>, Changed<T, W>>>;
}

type SampleOf<R> = R extends { readonly kind: 'switch' } ? 0 | 1 : ValueOf<R>;
type Answer<T, W> = { readonly [M in keyof T & keyof W as NameOf<W, M>]: z.output<DataOf<T[M]>> };
type Asked<T, W> = { readonly [M in Changed<T, W> as NameOf<W, M>]: ValueOf<T[M]> };

type Row = SettingRow & WireRow & { readonly member: string };
type Value = Row['default'];

export function wireSettings<const T extends SettingTable, const W extends WireRows<T>>(
  table: T,
  words: W,
): WireSettings<T, W> {
  const said: readonly [string, WireRow<unknown>][] = Object.entries(words);
  const rows = said.flatMap(([member, row]): Row[] => {
    const setting = table[member];
    return setting === undefined ? [] : [{ member, ...setting, ...row }];
  });
  const changed = rows.filter(({ isSetElsewhere }) => isSetElsewhere !== true);
  const byName = (of: readonly Row[], toValue: (row: Row) => unknown) =>
    Object.fromEntries(of.map((row) => [row.wire, toValue(row)]));
  const sampleOf = (row: Row) => (row.sample ?? row.default) as Value; // the type of `words` says so
  const write = (settings: Readonly<Record<string, Value>>) =>
    byName(rows, (row) => toAnswer(row, settings[row.member] ?? row.default));
  const read = (request: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(
      changed.map(({ member, wire }) => [member, request[wire]]).filter(([, value]) => value !== undefined),
    );
  // fromEntries forgets the names, which are those of `table` and `words`.
  return {
    rows,
    fields: byName(changed, fieldOf),
    // An empty text is one.
    optionalFields: byName(changed, (row) => (row.kind === 'text' ? clearable : optional)(fieldOf(row))),
    data: byName(rows, dataOf),
    sampleRequest: byName(changed, (row) => (row.kind === 'switch' ? Number(sampleOf(row)) : sampleOf(row))),
    sampleData: byName(rows, (row) => toAnswer(row, sampleOf(row))),
    defaultData: byName(rows, (row) => toAnswer(row, row.default)),
    write,
    read,
    readGiven: read,
  } as unknown as WireSettings<T, W>;
}

function fieldOf(row: Row): Field {
  switch (row.kind) {
    case 'switch':
      return row.expects === undefined ? flag : { ...flag, expects: row.expects };
    case 'seconds':
      return { ...integer(0, row.max), kind: 'seconds', expects: row.expects ?? secondsUpTo(row.max) };
    case 'number':
      return integer(row.min, row.max);
    case 'text':
      return text(row);
    case 'choice':
      return choice(row.of, row.expects ?? { 'zh-CN': row.of.join('、'), en: row.of.join(', ') });
  }
}

function secondsUpTo(max: number): Localized {
  return { 'zh-CN': `0 到 ${max} 的秒数`, en: `a whole number of seconds, from 0 to ${max}` };
}

function dataOf(row: Row): z.ZodType {
  return schemaOf(row).describe(row.means);
}

function schemaOf(row: Row): z.ZodType {
  switch (row.kind) {
    case 'switch':
      return FLAG_TEXT;
    case 'number':
      return z.int();
    case 'choice':
      return z.enum(row.of);
    default:
      return z.string();
  }
}

function toAnswer({ kind }: Row, value: Value): string | number {
  if (kind === 'switch') return value === true ? '1' : '0';
  return kind === 'number' ? Number(value) : String(value);
}
