/** A list of any length as one parameter of a statement, whose text is then the same for every length: it is prepared once. */
import { type RawBuilder, sql } from 'kysely';
import { isPostgres } from './engine.ts';
import type { Executor } from './schema.ts';

/**
 * To be selected from: a table `t` of one column `value`, an array of JSON. `value ->> 0` is the first member of a row, as
 * text on PostgreSQL: cast what is a number.
 */
export function rowList(x: Executor, rows: readonly (readonly (string | number | null)[])[]): RawBuilder<unknown> {
  const text = JSON.stringify(rows, (_, value) => (typeof value === 'string' ? storable(value) : value));
  return isPostgres(x) ? sql`jsonb_array_elements(cast(${text} as jsonb)) as t(value)` : sql`json_each(${text}) as t`;
}

/** PostgreSQL takes neither NUL nor half a surrogate pair, and what carriers send may have both. */
export function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/** Whether a column of whole numbers has one of these, of which there may be any number. */
export function isOneOf(x: Executor, column: string, values: readonly number[]): RawBuilder<boolean> {
  const list = rowList(
    x,
    values.map((value) => [value]),
  );
  return sql<boolean>`${sql.ref(column)} in (select cast(value ->> 0 as integer) from ${list})`;
}

/** To stand behind a column of whole numbers: whether it has one of these. A list of theirs would hide from PostgreSQL that they are few. */
export function inIds(x: Executor, values: readonly number[]): RawBuilder<unknown> {
  if (isPostgres(x)) return sql`= any(cast(${`{${values.join(',')}}`} as bigint[]))`;
  return sql`in (select value from json_each(${JSON.stringify(values)}))`;
}
