/** The folders inside a room: which may import which. Between rooms: `architecture.test.ts`. And the folders of `test/support`. */
import assert from 'node:assert/strict';
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, test } from 'node:test';

const ROOT = join(import.meta.dirname, '..');

/**
 * Folder → folders of the same room that its files may import beside itself. `.` is the room's own files; a file that is
 * named here is a folder by itself. A folder that is not named belongs to the one that it lies in.
 */
type Folders = Readonly<Record<string, readonly string[]>>;

const EDGE = ['transport', 'shortcuts', 'pipeline', 'live', 'fetch', 'stages', 'respond', 'origin', 'store', 'buffers'];
const API = [
  'http',
  'watch',
  'calls',
  'audit',
  'handlers',
  'settings',
  'wire',
  'views',
  'auth',
  'sms',
  'checks',
  'previews',
];

const ROOMS: Readonly<Record<string, Folders>> = {
  edge: {
    ...inOrder(EDGE, ['.', 'context.ts']),
    '.': ['store', 'context.ts'],
    // They join the folders.
    'context.ts': ['.', ...EDGE],
    'ending.ts': ['.', ...EDGE],
    'server.ts': ['.', 'context.ts', 'ending.ts', ...EDGE],
  },
  api: {
    ...inOrder(API, ['.']),
    '.': [],
    'server.ts': ['.', ...API],
  },
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
    peers: ['.', 'schema', 'tables'],
    migrations: ['engines', 'schema'],
    '.': ['migrations', 'tables', 'statements', 'engines', 'engines/postgres', 'schema'],
    rotation: ['.', 'tables', 'tables/sms', 'tables/live', 'engines', 'secrets', 'schema'],
    export: ['.', 'rotation', 'migrations', 'engines', 'secrets', 'schema'],
  },
  // What a customer or an operator may ask for, by subject; routes and operations list them all.
  contract: {
    schema: [],
    errors: ['schema'],
    settings: ['schema'],
    domains: ['settings', 'schema'],
    live: ['domains', 'settings', 'schema'],
    sms: ['domains', 'settings', 'schema'],
    operators: ['domains', 'schema'],
    people: ['domains', 'schema'],
    changes: ['live', 'domains', 'settings', 'schema'],
    '.': ['changes', 'people', 'operators', 'sms', 'live', 'domains', 'errors', 'schema'],
    openapi: ['.', 'changes', 'people', 'domains', 'errors', 'schema'],
  },
  // Commands by subject, over the parts of which each is made.
  cli: {
    command: [],
    domains: ['command'],
    live: ['command'],
    sms: ['command'],
    operators: ['domains', 'command'],
    machine: ['command'],
    '.': ['machine', 'operators', 'sms', 'live', 'domains', 'command'],
  },
  // Control's side and the edge's meet in the protocol alone.
  feed: {
    wire: [],
    publish: ['wire'],
    server: ['publish', 'wire'],
    store: ['wire'],
    client: ['store', 'wire'],
  },
  // A folder for each kind of process, over what they share. The supervisor loads no database, and a worker none of control's code.
  roles: {
    sockets: [],
    process: ['sockets'],
    database: [],
    control: ['database', 'process'],
    edge: ['process', 'sockets'],
    supervisor: ['control', 'edge', 'process', 'sockets'],
    doctor: ['control', 'database', 'edge', 'sockets'],
    install: [],
  },
};

/** Files directly in `test/support`: tests of most rooms use them. `runner` serves `test/run.ts`. */
const SHARED_SUPPORT = [
  'eventually.ts',
  'free-port.ts',
  'nginx.ts',
  'relay.ts',
  'resident.ts',
  'temporary.ts',
  'timers.ts',
];

describe('folders of a room', () => {
  for (const [room, folders] of Object.entries(ROOMS)) {
    const base = join(ROOT, 'src', room);
    const files = globSync('**/*.ts', { cwd: base }).filter((file) => !/\.(test|suite)\.ts$/.test(file));

    test(`${room}: every folder is in the table, and has files`, () => {
      const found = new Set(files.map((file) => folderOf(folders, file)));
      assert.deepEqual([...found].toSorted(), Object.keys(folders).toSorted());
    });

    test(`${room}: a folder imports only the folders it may`, () => {
      const forbidden = files.flatMap((file) => {
        const from = folderOf(folders, file);
        return ownImports(base, file).flatMap((target) => {
          const to = folderOf(folders, target);
          return to === from || folders[from]?.includes(to) ? [] : [`${file} imports ${target}`];
        });
      });
      assert.deepEqual(forbidden, []);
    });
  }
});

describe('test/support', () => {
  test('each file lies in the folder of the tests that it serves, but for the few that all of them use', () => {
    const found = readdirSync(join(ROOT, 'test', 'support'), { withFileTypes: true });
    const [folders, files] = [found.filter((entry) => entry.isDirectory()), found.filter((entry) => entry.isFile())];
    assert.deepEqual(files.map(({ name }) => name).toSorted(), SHARED_SUPPORT);
    const isServing = (name: string) => name === 'runner' || existsSync(join(ROOT, 'test', name));
    assert.deepEqual(
      folders.map(({ name }) => name).filter((name) => !isServing(name)),
      [],
    );
  });
});

/** A table in which each folder may import those after it, and `always`. */
function inOrder(names: readonly string[], always: readonly string[]): Folders {
  return Object.fromEntries(names.map((name, index) => [name, [...names.slice(index + 1), ...always]]));
}

/** Paths in the room of the files of its own that a file imports: rooms import their own files by relative paths, `contract` also the model's. */
function ownImports(base: string, file: string): readonly string[] {
  const text = readFileSync(join(base, file), 'utf8');
  const specifiers = [...text.matchAll(/\b(?:from\s*|import\(\s*|import\s+|new URL\()'(\.[^']+)'/g)];
  const paths = specifiers.map(([, specifier = '']) => normalize(join(dirname(file), specifier)));
  return paths.filter((path) => !path.startsWith('..'));
}

function folderOf(folders: Folders, file: string): string {
  let name = file;
  while (!Object.hasOwn(folders, name)) {
    const parent = dirname(name);
    if (parent === '.') return name === file ? '.' : name; // a folder that nobody has named
    name = parent;
  }
  return name;
}
