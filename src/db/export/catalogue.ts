/** Reads the engine's catalogue of our tables: columns, keys, and identity columns. */
import { sql } from 'kysely';
import { isPostgres } from '../engines/engine.ts';
import type { Executor } from '../schema/schema.ts';
import { TABLE_NAMES, type TableName } from './tables.ts';

export interface CataloguedTable {
  readonly name: TableName;
  readonly columns: ReadonlyMap<string, Column>;
  /** Columns of the primary key, in order. */
  readonly key: readonly string[];
  /** The column whose values the engine assigns and never reuses. */
  readonly identity: string | undefined;
}

interface Column {
  readonly isText: boolean;
  readonly isNullable: boolean;
}

interface ColumnRow {
  readonly table_name: string;
  readonly name: string;
  readonly type: string;
  readonly is_nullable: number;
  readonly is_identity: number;
  /** Position in the primary key, from 1; 0 if it is not part of it. */
  readonly key_place: number;
}

/** Returns the existing tables in the order of `TABLE_NAMES`. Before all migrations have run, some are missing. */
export async function readCatalogue(x: Executor): Promise<readonly CataloguedTable[]> {
  const { rows } = await (isPostgres(x) ? POSTGRES : SQLITE).execute(x);
  const byTable = Map.groupBy(rows, ({ table_name }) => table_name);
  return TABLE_NAMES.flatMap((name) => {
    const columns = byTable.get(name);
    return columns === undefined ? [] : [toTable(name, columns)];
  });
}

function toTable(name: TableName, rows: readonly ColumnRow[]): CataloguedTable {
  return {
    name,
    columns: new Map(
      rows.map((row) => [row.name, { isText: row.type.toLowerCase() === 'text', isNullable: row.is_nullable === 1 }]),
    ),
    key: rows
      .filter(({ key_place }) => key_place > 0)
      .sort((a, b) => a.key_place - b.key_place)
      .map((row) => row.name),
    identity: rows.find(({ is_identity }) => is_identity === 1)?.name,
  };
}

const SQLITE = sql<ColumnRow>`
  select t.name as table_name, c.name as name, c.type as type, c.pk as key_place,
    c."notnull" = 0 and c.pk = 0 as is_nullable, c.pk = 1 and t.sql like '%autoincrement%' as is_identity
  from sqlite_schema t, pragma_table_info(t.name) c
  where t.type = 'table'
  order by t.name, c.cid`;

const POSTGRES = sql<ColumnRow>`
  select c.table_name, c.column_name as name, c.data_type as type, coalesce(k.ordinal_position, 0)::integer as key_place,
    (c.is_nullable = 'YES')::integer as is_nullable, (c.is_identity = 'YES')::integer as is_identity
  from information_schema.columns c
  left join information_schema.table_constraints p
    on p.table_schema = c.table_schema and p.table_name = c.table_name and p.constraint_type = 'PRIMARY KEY'
  left join information_schema.key_column_usage k
    on k.constraint_schema = p.constraint_schema and k.constraint_name = p.constraint_name
      and k.table_name = c.table_name and k.column_name = c.column_name
  where c.table_schema = current_schema()
  order by c.table_name, c.ordinal_position`;
