/**
 * Tries an export: makes a database from it and compares every row that is read back with the file. docs/decisions/0616
 */
import { createHash } from 'node:crypto';
import { lazy } from '#lib/lazy.ts';
import type { Engine } from '../engines/engine.ts';
import { migrate, migrateTo } from '../migrations/migrations.ts';
import { type DatabaseOptions, openEngine } from '../open.ts';
import { openSecrets } from '../rotation/sealed-secrets.ts';
import type { Keyring } from '../secrets/keyring.ts';
import { type ExportHead, parseHead, parseLine } from './lines.ts';
import { putIn } from './put-in.ts';
import type { NumberedRow, OpenExport } from './read.ts';
import type { TableRow } from './tables.ts';
import { writeExport } from './write.ts';

export interface Verification {
  readonly rows: number;
  /** Number of tables that have rows in the file. */
  readonly tables: number;
  /** When the export was made, in epoch milliseconds. */
  readonly exportedAt: number;
  /** Number of rows whose secret the export has left out. */
  readonly withoutSecret: number;
  /** Number of sealed secrets. */
  readonly secrets: number;
  /** Whether they were opened, which needs the key ring. */
  readonly areOpened: boolean;
  /** Lines for people; empty if the restored database is that of the file. */
  readonly differences: readonly string[];
}

/**
 * `aside`: a new database, which is left restored and brought up to this release. `findRing` is called at the first
 * sealed secret and may throw; without a key ring secrets stay closed. Throws as `importDatabase` does if the file is
 * damaged or cannot be imported.
 */
export async function verifyExport(
  aside: DatabaseOptions,
  source: OpenExport,
  findRing: () => Keyring | undefined,
): Promise<Verification> {
  await using engine = await openEngine(aside);
  await migrateTo(engine.query, engine.words, source.head.step);
  const inFile = new Tally();
  const tapped = { head: source.head, rows: inFile.watch(source.rows) };
  const ring = lazy(findRing);
  const hasKey = (id: string) => ring() === undefined || ring()?.find(id) !== undefined;
  const { rows, withoutSecretCount } = await engine.query.transaction().execute((trx) => putIn(trx, tapped, hasKey));
  const restored = await readBack(engine, source.head);
  await migrate(engine.query, engine.words); // this release can take it
  const opened = await openSecrets(engine.query, ring);
  return {
    rows,
    tables: inFile.tables.size,
    exportedAt: source.head.at,
    withoutSecret: withoutSecretCount,
    secrets: opened.secrets,
    areOpened: opened.areOpened,
    differences: [
      ...compareTallies(inFile, restored.tally),
      ...compareIds(source.head, restored.head),
      ...opened.problems.slice(0, MAX_NAMED),
      ...(opened.problems.length > MAX_NAMED ? [`… and ${opened.problems.length - MAX_NAMED} more secrets`] : []),
    ],
  };
}

/** Limit of secrets that are named in the differences. */
const MAX_NAMED = 20;

async function readBack(engine: Engine, { step, at }: ExportHead): Promise<{ head: ExportHead; tally: Tally }> {
  const tally = new Tally();
  let head: ExportHead | undefined;
  const write = async (text: string) => {
    for (const line of text.split('\n').filter((one) => one !== '')) {
      if (head === undefined) head = parseHead(line);
      else tally.add(line);
    }
  };
  // What the file leaves out is not in the database either.
  await engine.snapshot((x) => writeExport(x, { step, withSecrets: true, now: at, write }));
  if (head === undefined) throw new Error('nothing was read back');
  return { head, tally };
}

/** Count of a table's rows, and the sum of their hashes, which does not depend on their order. */
interface TableTally {
  readonly count: number;
  readonly sum: bigint;
}

/** Modulus of the sums: as many bits as a hash has. */
const MODULUS = 2n ** 256n;

class Tally {
  readonly tables = new Map<string, TableTally>();

  /** Passes rows on, and counts them. */
  async *watch(rows: AsyncIterable<NumberedRow>): AsyncGenerator<NumberedRow> {
    for await (const row of rows) {
      this.#count(row.table, row.row);
      yield row;
    }
  }

  /** Counts the row of a line; other lines have none. */
  add(line: string): void {
    const parsed = parseLine(line);
    if (parsed.kind === 'row') this.#count(parsed.table, parsed.row);
  }

  #count(table: string, row: TableRow): void {
    const { count, sum } = this.tables.get(table) ?? { count: 0, sum: 0n };
    this.tables.set(table, { count: count + 1, sum: (sum + hashOf(table, row)) % MODULUS });
  }
}

/** Column that every import sets anew. docs/decisions/0023 */
const EPOCH = { table: 'config_head', column: 'epoch' };

function hashOf(table: string, row: TableRow): bigint {
  const columns = Object.entries(row)
    .filter(([column]) => table !== EPOCH.table || column !== EPOCH.column)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return BigInt(`0x${createHash('sha256').update(JSON.stringify(columns)).digest('hex')}`);
}

function compareTallies(inFile: Tally, restored: Tally): readonly string[] {
  const names = [...new Set([...inFile.tables.keys(), ...restored.tables.keys()])].sort();
  return names.flatMap((name) => {
    const [one, other] = [inFile.tables.get(name), restored.tables.get(name)];
    if (one?.count !== other?.count)
      return [`${name}: ${one?.count ?? 0} rows in the file, and ${other?.count ?? 0} in the restored database`];
    return one?.sum === other?.sum ? [] : [`${name}: rows of the restored database differ from those of the file`];
  });
}

function compareIds(inFile: ExportHead, restored: ExportHead): readonly string[] {
  return Object.entries(inFile.lastIds).flatMap(([table, id]) =>
    restored.lastIds[table] === id
      ? []
      : [`${table}: the last id is ${id} in the file, and ${restored.lastIds[table] ?? 0} in the restored database`],
  );
}
