/** What goes to the thread of SQLite, and what it answers. */
import type { CompiledQuery } from 'kysely';

export interface OpenSettings {
  readonly file: string;
  /** A second connection that only reads: with WAL it keeps one state while the writer goes on. */
  readonly isReader: boolean;
  /** Address of a `ProcedureFile`; absent: none is called. */
  readonly procedures?: string | undefined;
}

/** A statement; statements come as lists, each of which is answered by one. */
export interface StatementRequest {
  readonly id: number;
  readonly text: string;
  readonly values: readonly Value[];
  /**
   * The statement is run for each of `rows`. A value that has a place in the row is taken from the row, not from
   * `values`.
   */
  readonly each?: Pick<RowsQuery<unknown>, 'rows' | 'places' | 'wide'> | undefined;
}

export type RowValues = readonly (string | number | null)[];

/** A compiled statement that is run for each of several rows: see `rowStatement`. */
export interface RowsQuery<T> extends CompiledQuery<T> {
  readonly rows: readonly RowValues[];
  /** Index in a row of each parameter's value; −1: it is the same for all rows. */
  readonly places: readonly number[];
  /** The widest first. */
  readonly wide?: readonly WideStatement[] | undefined;
}

/** The same for several rows at once: their values are its parameters, one row's after the other's. It returns no rows. */
interface WideStatement {
  readonly rows: number;
  readonly text: string;
}

type Value = string | number | bigint | null;

/** A procedure, run as a transaction while no other is open. */
export interface CallRequest {
  readonly id: number;
  readonly name: string;
  /** JSON, as is the value that answers it: a clone of objects takes twice as long. docs/decisions/0511 */
  readonly args: string;
}

/** What a statement gave. */
export type Ran =
  | { readonly kind: 'rows'; readonly rows: Record<string, unknown>[] }
  | { readonly kind: 'changes'; readonly changes: bigint };

/** The answer to the opening, which has the id 0, to a statement or to a call. */
export type ThreadAnswer =
  | (Ran & { readonly id: number })
  | { readonly id: number; readonly kind: 'value'; readonly value: string | undefined }
  | { readonly id: number; readonly kind: 'error'; readonly error: ThreadError };

/** An error loses its members on the way between threads. */
export interface ThreadError {
  readonly message: string;
  readonly code?: unknown;
  /** SQLite's extended result code. */
  readonly errcode?: unknown;
}

/** Runs a statement in the thread itself. Throws the statement's error. */
export type RunStatement = (statement: Omit<StatementRequest, 'id'>) => Ran;
