/**
 * State of an open database for its statements and transactions. It is attached to the adapter of a `Kysely`, where
 * every executor of that database finds it.
 */
import type { DatabaseConnection, DialectAdapter, Transaction } from 'kysely';
import type { AuditChange } from '#model/audit.ts';
import type { Executor, Schema } from '../schema/schema.ts';

export class DbMemory {
  readonly #made = new Map<unknown, unknown>();
  readonly #names = new Map<string, string>();
  /** The connection of each transaction: a batch is sent on it while other statements are in flight. */
  readonly connections = new WeakMap<Transaction<Schema>, DatabaseConnection>();
  /** Errors of statements that their transaction does not wait for: it cannot be committed. */
  readonly failures = new WeakMap<Transaction<Schema>, unknown>();
  /** What transactions have noted for the audit trail. */
  readonly notes = new WeakMap<Transaction<Schema>, readonly AuditChange[]>();

  /** Makes a value on first use. Keys are definitions in the program, a few dozen, so values are kept forever. */
  once<T>(key: unknown, make: () => T): T {
    // `as`: each key has one kind of value.
    const found = this.#made.get(key) as T | undefined;
    if (found !== undefined) return found;
    const made = make();
    this.#made.set(key, made);
    return made;
  }

  /** Names a statement by its text, so that PostgreSQL parses it once per connection. docs/decisions/0511 */
  name(text: string): void {
    if (!this.#names.has(text)) this.#names.set(text, `causeway_${this.#names.size + 1}`);
  }

  /** Name of a statement; `undefined` if its text may not recur. */
  nameOf(text: string): string | undefined {
    return this.#names.get(text);
  }
}

type RememberingAdapter = DialectAdapter & { readonly memory: DbMemory };

export function withMemory(adapter: DialectAdapter, memory: DbMemory): RememberingAdapter {
  return Object.assign(adapter, { memory });
}

export function memoryOf(x: Executor): DbMemory {
  // `as`: both dialects make their adapter by `withMemory`.
  return (x.getExecutor().adapter as RememberingAdapter).memory;
}
