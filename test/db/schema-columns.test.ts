/** The types of src/db/schema/ and the columns that the migrations make. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { openTestDatabase } from '../support/feed/feed.ts';

const ROOT = join(import.meta.dirname, '../..');

/** Columns such as `account.name`, and whether they may be null. */
function declaredColumns(): readonly string[] {
  return globSync('src/db/schema/*.ts', { cwd: ROOT }).flatMap((file) => {
    const text = readFileSync(join(ROOT, file), 'utf8');
    const membersOf = (name: string) => new RegExp(`^interface ${name} \\{\n(.*?)^\\}`, 'ms').exec(text)?.[1] ?? '';
    return [...text.matchAll(/^ {2}(\w+): (?:(\w+) & )?\{\n(.*?)^ {2}\};/gms)].flatMap(
      ([, table = '', shared, body = '']) => {
        const members = body + (shared === undefined ? '' : membersOf(shared));
        return [...members.matchAll(/^ {2,4}(\w+): (.*);$/gm)].map(([, column = '', type = '']) =>
          describeColumn(table, column, type.includes('null')),
        );
      },
    );
  });
}

function describeColumn(table: string, column: string, isNullable: boolean): string {
  return `${table}.${column}${isNullable ? ' or null' : ''}`;
}

function nameOf(described: string): string {
  return described.replace(' or null', '');
}

test('migrations are listed in the order in which they are applied, and every file is', () => {
  const files = globSync('src/db/migrations/0*.ts', { cwd: ROOT }).map((file) => basename(file, '.ts'));
  const list = readFileSync(join(ROOT, 'src/db/migrations/migrations.ts'), 'utf8');
  const listed = [...list.matchAll(/^ {2}'(\d{4}-[\w-]+)':/gm)].map(([, name]) => name);
  assert.deepEqual(listed, files.toSorted());
});

describeOnBothEngines('the schema', (newDatabase) => {
  test('every column that the schema declares is made by a migration, and no other', async (t) => {
    await using db = await openTestDatabase(await newDatabase(t));
    const isExact = db.engine !== 'sqlite'; // which says of a primary key that it may be null
    const tables = await db.query.introspection.getTables();
    const made = tables.flatMap(({ name, columns }) =>
      columns.map((column) => describeColumn(name, column.name, column.isNullable)),
    );
    const compared = (columns: readonly string[]) =>
      columns.map((column) => (isExact ? column : nameOf(column))).toSorted();
    assert.deepEqual(compared(declaredColumns()), compared(made));
  });
});
