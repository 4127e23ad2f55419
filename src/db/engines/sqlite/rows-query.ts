/** A compiled statement that SQLite runs for each of several rows: see `rowStatement`. */
import type { CompiledQuery } from 'kysely';

export type Row = readonly (string | number | null)[];

export interface RowsQuery<T> extends CompiledQuery<T> {
  readonly rows: readonly Row[];
  /** Index in a row of each parameter's value; −1: it is the same for all rows. */
  readonly places: readonly number[];
  /** The widest first. */
  readonly wide?: readonly WideStatement[] | undefined;
}

/** The same for so many rows at once, whose values are its parameters, one row's after the other's. It gives no rows. */
export interface WideStatement {
  readonly rows: number;
  readonly text: string;
}
