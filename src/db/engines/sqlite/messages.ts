/** Messages to SQLite's thread and its answers. */
import type { CompiledQuery } from 'kysely';

export interface OpenSettings {
  readonly file: string;
  /** A read-only connection: with WAL it keeps one state while the writer continues. */
  readonly isReader: boolean;
  /** URL of a `ProcedureFile`; absent: no procedures are called. */
  readonly procedures?: string | undefined;
}

/** A statement; statements arrive in lists, each answered by one list. */
export interface StatementRequest {
  readonly id: number;
  readonly text: string;
  readonly values: readonly Value[];
  /** The statement runs for each of `rows`. Values with a place in the row come from the row instead of `values`. */
  readonly each?: Pick<RowsQuery<unknown>, 'rows' | 'places' | 'wide'> | undefined;
}

export type RowValues = readonly (string | number | null)[];

/** A compiled statement that runs for each of several rows: see `rowStatement`. */
export interface RowsQuery<T> extends CompiledQuery<T> {
  readonly rows: readonly RowValues[];
  /** Index in the row of each parameter's value; −1: the value is the same for all rows. */
  readonly places: readonly number[];
  /** The widest first. */
  readonly wide?: readonly WideStatement[] | undefined;
}

/**
 * The statement for several rows at once: its parameters are the values of one row after the other. It returns no rows.
 */
interface WideStatement {
  readonly rows: number;
  readonly text: string;
}

type Value = string | number | bigint | null;

/** A call of a procedure, which runs as a transaction while no other is open. */
export interface CallRequest {
  readonly id: number;
  readonly name: string;
  /** JSON, like the returned value: cloning objects takes twice as long. docs/decisions/0511 */
  readonly args: string;
}

/** The result of a statement. */
export type Ran =
  | { readonly kind: 'rows'; readonly rows: Record<string, unknown>[] }
  | { readonly kind: 'changes'; readonly changes: bigint };

/** The answer to opening (id 0), to a statement, or to a call. */
export type ThreadAnswer =
  | (Ran & { readonly id: number })
  | { readonly id: number; readonly kind: 'value'; readonly value: string | undefined }
  | { readonly id: number; readonly kind: 'error'; readonly error: ThreadError };

/** An error as plain data, since errors lose their members between threads. */
export interface ThreadError {
  readonly message: string;
  readonly code?: unknown;
  /** SQLite's extended result code. */
  readonly errcode?: unknown;
}

/** Runs a statement in the thread itself. Throws the statement's error. */
export type RunStatement = (statement: Omit<StatementRequest, 'id'>) => Ran;
