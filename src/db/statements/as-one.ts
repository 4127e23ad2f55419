/**
 * Several statements joined into one. On PostgreSQL every statement has a fixed cost at the server and at the client,
 * whatever it does; on SQLite they are run one by one. docs/decisions/0391
 */
import { CompiledQuery, type Transaction } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import { makeLasting, nameOf } from '../engines/postgres/named-statements.ts';
import type { Schema } from '../schema/schema.ts';
import { type Rows, runBehind, runTogether, type Statement } from './together.ts';

/** Selects that need nothing of each other, as `prepare` makes them; gives the rows of each. They see what was committed when the first began. */
export async function readAsOne<T extends readonly unknown[]>(
  trx: Transaction<Schema>,
  statements: { readonly [K in keyof T]: Statement<T[K]> },
): Promise<Rows<T>> {
  if (!isPostgres(trx)) return await runTogether(trx, statements);
  const [[found = {}]] = await runTogether(trx, [joined<Record<string, unknown>>(statements, selectLists)] as const);
  // `as`: each has a list of its own.
  return statements.map((_, n) => found[`r${n}`]) as unknown as Rows<T>;
}

/** What gives nothing and writes where no other of them reads or writes. Nobody waits for it: see `runBehind`. */
export async function writeAsOne(
  trx: Transaction<Schema>,
  statements: readonly (Statement<unknown> | undefined)[],
): Promise<void> {
  const own = statements.filter((statement) => statement !== undefined);
  await runBehind(trx, isPostgres(trx) && own.length > 1 ? [joined(own, writeAll)] : own);
}

type Join = (texts: readonly string[]) => string;

function selectLists(texts: readonly string[]): string {
  return `select ${texts.map((text, n) => `(select coalesce(json_agg(x), '[]') from (${text}) as x) as r${n}`).join(', ')}`;
}

function writeAll(texts: readonly string[]): string {
  const before = texts.slice(0, -1).map((text, n) => `w${n} as (${text})`);
  return `with ${before.join(', ')} ${texts.at(-1)}`;
}

/** Joined texts, keyed by the names of the statements that they are made of. */
const made = new Map<string, string>();

function joined<T>(statements: readonly Statement<unknown>[], join: Join): Statement<T> {
  return {
    compile(x) {
      const compiled = statements.map((statement) => statement.compile(x));
      const key = compiled.map(({ sql }) => nameOf(sql)).join();
      let text = made.get(key);
      if (text === undefined) {
        text = join(renumbered(compiled));
        made.set(key, text);
        makeLasting(text);
      }
      return CompiledQuery.raw(
        text,
        compiled.flatMap(({ parameters }) => parameters),
      );
    },
  };
}

/** The places of their parameters, one statement's after the other's. */
function renumbered(compiled: readonly CompiledQuery[]): readonly string[] {
  let before = 0;
  return compiled.map(({ sql, parameters }) => {
    const first = before;
    before += parameters.length;
    return sql.replace(/\$(\d+)/g, (_, place) => `$${first + Number(place)}`);
  });
}
