/**
 * Batches: statements that are sent together and take one round trip. The number of statements that PostgreSQL runs,
 * and what waits for them, depends on the engine: docs/development/statements.md has figures. docs/decisions/0511
 */
import { CompiledQuery, type DatabaseConnection, type Transaction } from 'kysely';
import { memoryOf } from '../engines/db-memory.ts';
import { isPostgres } from '../engines/engine.ts';
import type { Schema } from '../schema/schema.ts';
import type { Statement } from './statement.ts';

type Rows<T extends readonly unknown[]> = { readonly [K in keyof T]: readonly T[K][] };

/**
 * Allows batches while other statements of the transaction are in flight: they run in the order sent. Kysely itself
 * allows one statement at a time on the connection.
 */
export async function allowBatches(trx: Transaction<Schema>): Promise<void> {
  await trx.getExecutor().provideConnection(async (connection) => memoryOf(trx).connections.set(trx, connection));
}

/**
 * Runs statements in order. Returns the rows of each, none for an `undefined` statement. Rejects as soon as one has
 * failed; the transaction is then lost.
 */
export async function runBatch<T extends readonly unknown[]>(
  trx: Transaction<Schema>,
  statements: { readonly [K in keyof T]: Statement<T[K]> | undefined },
): Promise<Rows<T>> {
  const compiled = statements.map((statement) => statement?.compile(trx));
  const run = (connection: DatabaseConnection) =>
    Promise.all(compiled.map((one) => one && connection.executeQuery(one)));
  const connection = memoryOf(trx).connections.get(trx);
  const results = await (connection === undefined ? trx.getExecutor().provideConnection(run) : run(connection));
  // `as`: each statement has its own row type; `map` loses the length.
  return results.map((result) => result?.rows ?? []) as unknown as Rows<T>;
}

/**
 * Runs independent selects made with `statement`, and returns the rows of each. On PostgreSQL they are joined to one
 * statement, which sees the data committed when it began.
 */
export async function readBatch<T extends readonly unknown[]>(
  trx: Transaction<Schema>,
  statements: { readonly [K in keyof T]: Statement<T[K]> },
): Promise<Rows<T>> {
  if (!isPostgres(trx)) return await runBatch(trx, statements);
  const compiled = statements.map((statement) => statement.compile(trx));
  const [[found = {}]] = await runBatch(trx, [join<Record<string, unknown>>(trx, compiled, selectLists)] as const);
  // `as`: each statement has a list of its own.
  return statements.map((_, n) => found[`r${n}`]) as unknown as Rows<T>;
}

interface WriteOptions {
  /** All were made with `statement`, and none reads or writes what another writes: PostgreSQL runs them as one. */
  readonly isIndependent?: boolean;
}

/**
 * Runs statements in order whose results the transaction does not need. On PostgreSQL nothing waits for them: the
 * commit is sent after them, and fails if one has failed.
 */
export async function writeBatch(
  trx: Transaction<Schema>,
  statements: readonly (Statement<unknown> | undefined)[],
  { isIndependent = false }: WriteOptions = {},
): Promise<void> {
  if (!isPostgres(trx)) return void (await runBatch(trx, statements));
  const own = statements.filter((statement) => statement !== undefined);
  const isJoined = isIndependent && own.length > 1;
  const compiled = isJoined ? own.map((statement) => statement.compile(trx)) : [];
  const running = runBatch(trx, isJoined ? [join(trx, compiled, writeAll)] : own);
  running.catch((error: unknown) => memoryOf(trx).failures.set(trx, error));
}

/** Returns the error of a batch that the transaction did not wait for, and due to which it cannot be committed. */
export function failureOf(trx: Transaction<Schema>): unknown {
  return memoryOf(trx).failures.get(trx);
}

type Join = (texts: readonly string[]) => string;

function selectLists(texts: readonly string[]): string {
  return `select ${texts.map((text, n) => `(select coalesce(json_agg(x), '[]') from (${text}) as x) as r${n}`).join(', ')}`;
}

function writeAll(texts: readonly string[]): string {
  const before = texts.slice(0, -1).map((text, n) => `w${n} as (${text})`);
  return `with ${before.join(', ')} ${texts.at(-1)}`;
}

/** Joins named statements into one; its text is made once per combination. */
function join<T>(trx: Transaction<Schema>, compiled: readonly CompiledQuery[], make: Join): Statement<T> {
  const memory = memoryOf(trx);
  const names = compiled.map(({ sql }) => memory.nameOf(sql) ?? unnamed(sql));
  const text = memory.once(names.join(), () => {
    const joined = make(renumber(compiled));
    memory.name(joined);
    return joined;
  });
  const parameters = compiled.flatMap((one) => one.parameters);
  return { compile: () => CompiledQuery.raw(text, parameters) };
}

function unnamed(text: string): never {
  throw new Error(`only what \`statement\` made can be joined: ${text}`);
}

/** Numbers the parameters of all texts in one sequence. */
function renumber(compiled: readonly CompiledQuery[]): readonly string[] {
  let before = 0;
  return compiled.map(({ sql, parameters }) => {
    const first = before;
    before += parameters.length;
    return sql.replace(/\$(\d+)/g, (_, place) => `$${first + Number(place)}`);
  });
}
