/** The folders inside a room: which may import which. Between rooms: `architecture.test.ts`. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

/** Room → folder → folders of the same room that its files may import. `.` is the room's own files; a folder may import itself. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, readonly string[]>>>> = {
  db: {
    schema: [],
    secrets: [],
    'engines/sqlite': ['engines', 'schema'],
    'engines/postgres': [],
    engines: ['engines/sqlite', 'engines/postgres', 'schema'],
    statements: ['engines', 'engines/sqlite', 'schema'],
    tables: ['statements', 'engines', 'secrets', 'schema'],
    'tables/sms': ['tables', 'statements', 'engines', 'engines/sqlite', 'secrets', 'schema'],
    'tables/live': ['tables', 'statements', 'engines', 'secrets', 'schema'],
    migrations: ['engines', 'schema'],
    '.': ['migrations', 'tables', 'statements', 'engines', 'engines/postgres', 'schema'],
    rotation: ['.', 'tables', 'tables/sms', 'tables/live', 'engines', 'secrets', 'schema'],
    export: ['.', 'rotation', 'migrations', 'engines', 'secrets', 'schema'],
  },
};

describe('folders of a room', () => {
  for (const [room, folders] of Object.entries(FOLDERS)) {
    const files = globSync(`src/${room}/**/*.ts`, { cwd: ROOT }).filter((file) => !/\.(test|suite)\.ts$/.test(file));

    test(`${room}: every folder is in the table, and has files`, () => {
      const found = new Set(files.map((file) => folderOf(room, file)));
      assert.deepEqual([...found].toSorted(), Object.keys(folders).toSorted());
    });

    test(`${room}: a folder imports only the folders it may`, () => {
      const forbidden = files.flatMap((file) => {
        const from = folderOf(room, file);
        return ownImports(file).flatMap((target) => {
          const to = folderOf(room, target);
          return to === from || folders[from]?.includes(to) ? [] : [`${file} imports ${target}`];
        });
      });
      assert.deepEqual(forbidden, []);
    });
  }
});

/** Paths of the files of its own room that a file imports: rooms import their own files by relative paths. */
function ownImports(file: string): readonly string[] {
  const text = readFileSync(join(ROOT, file), 'utf8');
  const specifiers = [...text.matchAll(/\b(?:from\s*|import\(\s*|import\s+|new URL\()'(\.[^']+)'/g)];
  return specifiers.map(([, specifier = '']) => normalize(join(dirname(file), specifier)));
}

function folderOf(room: string, file: string): string {
  return dirname(file).slice(`src/${room}/`.length) || '.';
}
