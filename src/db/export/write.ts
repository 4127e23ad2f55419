/** Writes all rows of the database as lines, from one consistent state and in constant memory. docs/decisions/0260 */
import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { keepWaiting } from '../engines/engine.ts';
import type { Executor } from '../schema/schema.ts';
import { type CataloguedTable, readCatalogue } from './catalogue.ts';
import { readLastId } from './identities.ts';
import { formatEnd, formatExportHead, formatRow, MAX_LINE_BYTES } from './lines.ts';
import { secretOf } from './secrets.ts';
import { NEVER_EXPORTED, type TableRow } from './tables.ts';

export interface ExportOptions {
  readonly step: string;
  readonly withSecrets: boolean;
  readonly now: number;
  /** Resolves when there is room for more. */
  write(text: string): Promise<void>;
}

export interface ExportSummary {
  readonly rows: number;
  /** Rows whose secret was left out. */
  readonly withoutSecret: number;
}

/** Run it inside `Db.snapshot`. */
export async function writeExport(x: Executor, options: ExportOptions): Promise<ExportSummary> {
  const { step, withSecrets, now } = options;
  await keepWaiting(x);
  const tables = (await readCatalogue(x)).filter(({ name }) => !NEVER_EXPORTED.includes(name));
  const hash = createHash('sha256');
  const write = async (text: string) => {
    hash.update(text);
    await options.write(text);
  };
  const lastIds: Record<string, number> = {};
  for (const table of tables) if (table.identity !== undefined) lastIds[table.name] = await readLastId(x, table);
  await write(formatExportHead({ step, at: now, withSecrets, lastIds }));
  const counts: Record<string, number> = {};
  let withoutSecret = 0;
  for (const table of tables) {
    let count = 0;
    for await (const page of readPages(x, table)) {
      const lines = page.flatMap((row) => toLine(table, row, withSecrets));
      count += lines.length;
      withoutSecret += lines.filter(({ isWhole }) => !isWhole).length;
      await write(lines.map(({ text }) => text).join(''));
    }
    counts[table.name] = count;
  }
  await options.write(formatEnd(counts, hash.digest('hex')));
  return { rows: Object.values(counts).reduce((sum, count) => sum + count, 0), withoutSecret };
}

function toLine(table: CataloguedTable, whole: TableRow, withSecrets: boolean) {
  const secret = secretOf(table);
  const row = withSecrets || secret === undefined ? whole : secret.remove(whole);
  if (row === undefined) return [];
  const isWhole = row === whole;
  const text = formatRow(table.name, row, isWhole ? undefined : secret?.column);
  if (Buffer.byteLength(text) > MAX_LINE_BYTES) throw new Error(`a row of ${table.name} is too large for an export`);
  return [{ text, isWhole }];
}

/** Target size of a page: rows have between some bytes and some MiB. */
const PAGE_BYTES = 1024 * 1024;
const MAX_PAGE_ROWS = 1000;

async function* readPages(x: Executor, { name, key }: CataloguedTable): AsyncGenerator<readonly TableRow[]> {
  const columns = sql.join(key.map((column) => sql.ref(column)));
  let after = sql``;
  for (let limit = 16; ; ) {
    const query = sql<TableRow>`select * from ${sql.table(name)} ${after} order by ${columns} limit ${limit}`;
    const { rows } = await query.execute(x);
    const last = rows.at(-1);
    if (last === undefined) return;
    yield rows;
    if (rows.length < limit) return;
    after = sql`where (${columns}) > (${sql.join(key.map((column) => last[column]))})`;
    const bytes = rows.reduce((sum, row) => sum + sizeOf(row), 0);
    limit = bytes > PAGE_BYTES ? Math.max(1, limit >> 1) : Math.min(MAX_PAGE_ROWS, limit * 2);
  }
}

function sizeOf(row: TableRow): number {
  return Object.values(row).reduce<number>((sum, value) => sum + (typeof value === 'string' ? value.length : 8), 0);
}
