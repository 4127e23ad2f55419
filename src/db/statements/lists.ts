/**
 * Passes a list of any length as one parameter, so that the statement's text does not depend on the length and is
 * prepared once.
 */
import { type RawBuilder, sql } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { RowValues } from '../engines/sqlite/messages.ts';
import type { Executor } from '../schema/schema.ts';

/**
 * A table expression `t` with one column `value`, a JSON array per row. `value ->> 0` is the first member of a row, as
 * text on PostgreSQL: numbers need a cast.
 */
export function rowList(x: Executor, rows: readonly RowValues[]): RawBuilder<unknown> {
  return rowsOf(x, sql.val(rowsText(rows)));
}

/** Like `rowList`, for a parameter filled by `rowsText`. */
export function rowsOf(x: Executor, text: RawBuilder<unknown>): RawBuilder<unknown> {
  return isPostgres(x) ? sql`jsonb_array_elements(cast(${text} as jsonb)) as t(value)` : sql`json_each(${text}) as t`;
}

export function rowsText(rows: readonly RowValues[]): string {
  const text = JSON.stringify(rows);
  // Characters that cannot be stored are escaped in JSON, as are all control characters.
  return text.includes('\\u') ? JSON.stringify(rows.map(storableRow)) : text;
}

export function storableRow(row: RowValues): RowValues {
  return row.every(isStorable) ? row : row.map((value) => (typeof value === 'string' ? storable(value) : value));
}

function isStorable(value: RowValues[number]): boolean {
  return typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));
}

/** Replaces NUL and lone surrogates, which PostgreSQL rejects and carriers may send. */
function storable(text: string): string {
  const whole = text.isWellFormed() ? text : text.toWellFormed();
  return whole.includes('\0') ? whole.replaceAll('\0', '\ufffd') : whole;
}

/**
 * A condition to follow an integer column: it has one of `values`. With a `rowList`, PostgreSQL would not see that they
 * are few.
 */
export function inIds(x: Executor, values: readonly number[]): RawBuilder<unknown> {
  return inIdsOf(x, sql.val(idsText(x, values)));
}

/** Like `inIds`, for a parameter filled by `idsText`. */
export function inIdsOf(x: Executor, text: RawBuilder<unknown>): RawBuilder<unknown> {
  return isPostgres(x) ? sql`= any(cast(${text} as bigint[]))` : sql`in (select value from json_each(${text}))`;
}

export function idsText(x: Executor, values: readonly number[]): string {
  return isPostgres(x) ? `{${values.join(',')}}` : JSON.stringify(values);
}
