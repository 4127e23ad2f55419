/** Inserts the rows of an export into an empty database, within a given transaction. docs/decisions/0260 */
import { randomUUID } from 'node:crypto';
import { sql, type Transaction } from 'kysely';
import { keepWaiting, lockTables } from '../engines/engine.ts';
import { isDatabaseAway } from '../failures.ts';
import type { Schema } from '../schema/schema.ts';
import { sealedWith } from '../secrets/sealing.ts';
import { type CataloguedTable, readCatalogue } from './catalogue.ts';
import { readLastId, setLastId } from './identities.ts';
import { LineError } from './lines.ts';
import { at, ExportError, type NumberedRow, type OpenExport } from './read.ts';
import { secretOf } from './secrets.ts';
import { SEEDS, type TableRow } from './tables.ts';

export interface ImportSummary {
  readonly rows: number;
  /** Descriptions of secrets that were left out, at most 50. */
  readonly withoutSecret: readonly string[];
  readonly withoutSecretCount: number;
}

/**
 * `hasKey`: whether the key with an id is there for the secrets that are sealed with it; it may throw. Throws
 * `ExportError`, or another error if the database is in use.
 */
export async function putIn(
  trx: Transaction<Schema>,
  { head, rows }: OpenExport,
  hasKey: (id: string) => boolean,
): Promise<ImportSummary> {
  await keepWaiting(trx);
  const tables = await readCatalogue(trx);
  await lockTables(
    trx,
    tables.map(({ name }) => name),
  );
  for (const table of tables) await refuseUsed(trx, table);
  for (const { name } of tables.toReversed()) await sql`delete from ${sql.table(name)}`.execute(trx);
  const check = createRowCheck(tables, hasKey);
  const highest = new Map<string, number>();
  const withoutSecret: string[] = [];
  let [count, withoutSecretCount] = [0, 0];
  for await (const { table, batch } of inBatches(rows, check)) {
    await insert(trx, table, batch);
    count += batch.length;
    for (const { row, without } of batch) {
      if (table.identity !== undefined)
        highest.set(table.name, Math.max(highest.get(table.name) ?? 0, Number(row[table.identity])));
      withoutSecretCount += without.length > 0 ? 1 : 0;
      if (withoutSecret.length < MAX_NAMED)
        withoutSecret.push(...without.map((column) => `${column} of ${describeRow(table, row)}`));
    }
  }
  await beginAnew(trx);
  for (const table of tables) {
    if (table.identity === undefined) continue;
    const ids = [await readLastId(trx, table), head.lastIds[table.name] ?? 0, highest.get(table.name) ?? 0];
    if (Math.max(...ids) > 0) await setLastId(trx, table, Math.max(...ids));
  }
  return { rows: count, withoutSecret, withoutSecretCount };
}

/** Limit of entries listed in a summary. */
const MAX_NAMED = 50;

/** Throws if the table has rows other than those that migrations create. */
async function refuseUsed(trx: Transaction<Schema>, { name }: CataloguedTable): Promise<void> {
  const seeds = SEEDS[name];
  const { rows } = await sql`select 1 from ${sql.table(name)} limit ${seeds + 1}`.execute(trx);
  if (rows.length > seeds)
    throw new Error(
      `the database is not empty (there is something in ${name}): import into a new one, before a service has used it`,
    );
}

/** Sets a new epoch, so that edges of the exported database take a snapshot of this one. docs/decisions/0023 */
async function beginAnew(trx: Transaction<Schema>): Promise<void> {
  await trx.updateTable('config_head').set({ epoch: randomUUID() }).execute();
  const head = await trx
    .selectFrom('config_head')
    .innerJoin('revision_tag', 'revision_tag.revision', 'config_head.revision')
    .select('tag')
    .executeTakeFirst();
  if (head === undefined)
    throw new ExportError('the whole file: a row of config_head with its revision_tag is missing');
}

interface Batch {
  readonly table: CataloguedTable;
  readonly batch: readonly NumberedRow[];
}

/** Engines accept at most some ten thousand values per statement; larger batches are not faster. */
const MAX_BATCH_VALUES = 4000;
const MAX_BATCH_BYTES = 1024 * 1024;

async function* inBatches(
  rows: AsyncIterable<NumberedRow>,
  check: (row: NumberedRow) => CataloguedTable,
): AsyncGenerator<Batch> {
  let table: CataloguedTable | undefined;
  let batch: NumberedRow[] = [];
  let [values, bytes] = [0, 0];
  for await (const row of rows) {
    const its = at(row.number, () => check(row));
    if (table !== undefined && (its !== table || values >= MAX_BATCH_VALUES || bytes >= MAX_BATCH_BYTES)) {
      yield { table, batch };
      [batch, values, bytes] = [[], 0, 0];
    }
    table = its;
    batch.push(row);
    values += its.columns.size;
    bytes += Object.values(row.row).reduce<number>((sum, value) => sum + String(value).length, 0);
  }
  if (table !== undefined) yield { table, batch };
}

function createRowCheck(
  tables: readonly CataloguedTable[],
  hasKey: (id: string) => boolean,
): (row: NumberedRow) => CataloguedTable {
  let current = 0;
  return ({ table: name, row }) => {
    const index = tables.findIndex((table) => table.name === name);
    const table = tables[index];
    if (table === undefined) throw new LineError(`there is no table ${JSON.stringify(name)}`);
    if (index < current) throw new LineError(`a row of ${name} stands too late`);
    current = index;
    checkColumns(table, row);
    const sealed = sealedIn(table, row);
    if (sealed !== undefined && !hasKey(sealedWith(sealed)))
      throw new LineError(
        `a secret of ${describeRow(table, row)} is sealed with the key ${JSON.stringify(sealedWith(sealed))}, which is not in the key ring of this installation: put that of the exported one in its place`,
      );
    return table;
  };
}

function checkColumns({ name, columns }: CataloguedTable, row: TableRow): void {
  for (const column of Object.keys(row))
    if (!columns.has(column)) throw new LineError(`${name} has no column ${JSON.stringify(column)}`);
  for (const [column, { isText, isNullable }] of columns) {
    const value = Object.hasOwn(row, column) ? row[column] : undefined;
    const isRight = isText ? isStorable(value) : Number.isSafeInteger(value);
    if (isRight || (value === null && isNullable)) continue;
    throw new LineError(
      `${name}.${column} is to be ${isText ? 'a text' : 'a whole number'}${isNullable ? ' or null' : ''}`,
    );
  }
}

/** Whether both engines can store the text: PostgreSQL stores no U+0000. */
function isStorable(value: unknown): boolean {
  return typeof value === 'string' && value.isWellFormed() && !value.includes('\0');
}

function sealedIn(table: CataloguedTable, row: TableRow): string | undefined {
  try {
    const sealed = secretOf(table)?.sealedIn(row);
    return typeof sealed === 'string' && sealed !== '' ? sealed : undefined;
  } catch (cause) {
    if (cause instanceof SyntaxError) throw new LineError(`a column of ${table.name} is to be JSON`, { cause });
    throw cause;
  }
}

async function insert(trx: Transaction<Schema>, table: CataloguedTable, batch: readonly NumberedRow[]): Promise<void> {
  await sql`savepoint batch`.execute(trx);
  try {
    await insertRows(trx, table, batch);
  } catch (error) {
    if (isDatabaseAway(error)) throw error;
    // Retry one by one to find the failing row.
    await sql`rollback to savepoint batch`.execute(trx);
    for (const row of batch) {
      try {
        await insertRows(trx, table, [row]);
      } catch (cause) {
        const why = cause instanceof Error ? cause.message : String(cause);
        throw new ExportError(`line ${row.number}: the database does not take it: ${why}`, { cause });
      }
    }
  }
  await sql`release savepoint batch`.execute(trx);
}

async function insertRows(
  trx: Transaction<Schema>,
  { name, columns }: CataloguedTable,
  batch: readonly NumberedRow[],
): Promise<void> {
  const names = [...columns.keys()];
  const tuples = batch.map(({ row }) => sql`(${sql.join(names.map((column) => row[column]))})`);
  const into = sql.join(names.map((column) => sql.ref(column)));
  await sql`insert into ${sql.table(name)} (${into}) values ${sql.join(tuples)}`.execute(trx);
}

/**
 * Describes a row to users by its key, and its name if it has one. Control characters are replaced, since terminals
 * interpret them.
 */
function describeRow({ name, key }: CataloguedTable, row: TableRow): string {
  const title = row['name'] ?? row['title'];
  const told = title === undefined ? '' : ` (${String(title)})`;
  return `${name} ${key.map((column) => String(row[column])).join(' ')}${told}`.replace(/\p{Cc}/gu, ' ');
}
