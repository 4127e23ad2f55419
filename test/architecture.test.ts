/** The rooms of `ARCHITECTURE.md` as code: which room may import which, and the caps of `CONTRIBUTING.md`. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, normalize, relative } from 'node:path';
import { describe, test } from 'node:test';
import { ROOMS } from './support/docs/rooms.ts';
import { EVERYWHERE } from './support/runner/needs.ts';

const ROOT = join(import.meta.dirname, '..');
const MAX_FILE_LINES = 400;

/** Files of `src/` that belong to no room and may import every room. */
const RIM = [
  'command.ts',
  'config.ts',
  'main.ts',
  'settings.ts',
  'settings-dns.ts',
  'settings-edge.ts',
  'settings-fleet.ts',
  'settings-live.ts',
  'settings-logs.ts',
  'settings-people.ts',
];

/** Rooms that also run in a browser, so they use nothing of Node's. */
const ANYWHERE = ['contract', 'client'];

const NEEDS_FILE = 'test/support/runner/needs.ts';

/**
 * What of a viewer's request an answer that is kept ready does not depend on, and the files that may read it all the same. The fields
 * themselves are closed by type: `RequestHeaders` can be read by the names of `REQUEST_FIELDS` alone. docs/decisions/0415
 */
const REQUEST_READERS: readonly (readonly [pattern: RegExp, rooms: RegExp, files: readonly string[]])[] = [
  [
    // All fields, whatever their names: to pass them on, to measure them, or to compare them with a Vary.
    /\bwholeSection\(/,
    /^src\//,
    [
      'src/edge/origin-headers.ts',
      'src/edge/request.ts',
      'src/edge/stages/encodings.ts',
      'src/edge/stages/server-options.ts',
      'src/http/headers.ts',
      'src/http/request-facts.ts',
      'src/http/request-fields.ts',
      'src/http/request.ts',
      'src/http/validate.ts',
      'src/http/vary.ts',
    ],
  ],
  [
    // What node:http gives, beside the stages.
    /\bIncomingMessage\b|\bheadersDistinct\b|\brawTrailers\b/,
    /^src\/(?:edge|http|sites)\//,
    [
      'src/edge/live/owner-client.ts', // answers of the live process
      'src/edge/transport/node-http/given-response.ts',
      'src/edge/transport/node-http/http-server.ts',
      'src/edge/transport/node-http/http1-viewer.ts',
      'src/edge/transport/node-http/tier-server.ts', // requests of edges of the fleet
    ],
  ],
  // Of node:http's messages only `rawHeaders` is read, which becomes `RequestHeaders`.
  [/\b(?:message|request|req)\.headers(?:\[|\??\.\w)/, /^src\/(?:edge|http|sites)\//, []],
  [
    // An address: rules that ask for it are asked again for each client, so no other stage that a hit passes may depend on it.
    /\bclientAddress\b/,
    /^src\/edge\/(?!transport\/http1\/|transport\/http2\/|origin\/)/,
    [
      'src/edge/buffers/buffers.ts',
      'src/edge/fetch/answer-web-socket.ts',
      'src/edge/fetch/exchange.ts',
      'src/edge/live/answer-live.ts', // no answer of a live stream is kept ready
      'src/edge/live/audience.ts',
      'src/edge/live/hls.ts',
      'src/edge/origin-headers.ts',
      'src/edge/pipeline/check-origin.ts', // a request of its own
      'src/edge/pipeline/explain.ts',
      'src/edge/pipeline/prefetch.ts',
      'src/edge/request.ts',
      'src/edge/shortcuts/access-memo.ts',
      'src/edge/shortcuts/prepared-lines.ts',
      'src/edge/shortcuts/shortcuts.ts', // counts it as the pipeline does
      'src/edge/stages/access-log.ts',
      'src/edge/stages/access.ts',
      'src/edge/stages/health.ts', // no answer below /.well-known/ is kept ready
      'src/edge/stages/rate-limit.ts',
      'src/edge/transport/node-http/http-server.ts',
      'src/edge/transport/node-http/http1-viewer.ts',
      'src/edge/transport/proxies.ts',
    ],
  ],
];

/**
 * Reads of requests to control that `api/http/bare/` answers as well as Fastify: their fields are read through
 * `call-fields.ts`, and a hook or a plug-in of Fastify would not see them. The listed files read the fields of other requests,
 * or how a body is framed.
 */
const CALL_READERS: readonly (readonly [pattern: RegExp, found: readonly string[]])[] = [
  [
    /\b(?:request|message|raw)\.headers\b|\brawHeaders\b|\bheaders\b[^}]*\}: FastifyRequest|\{ headers \} = message/,
    [
      'src/api/http/collect-body.ts',
      'src/api/http/console/serve-console.ts',
      'src/api/http/discard-body.ts',
      'src/api/http/downloads/send-joined.ts',
      'src/api/http/fastify-app.ts',
      'src/api/http/front-page.ts',
      'src/api/http/reference/reference.ts',
    ],
  ],
  [/\.addHook\(|\.register\(|\.decorate/, ['src/api/http/fastify-app.ts']],
];

interface Import {
  readonly file: string;
  readonly from: string;
  readonly specifier: string;
  /** Path below `src/` that the import names, or `undefined` for a package. */
  readonly target: string | undefined;
}

const sources = globSync('src/**/*.ts', { cwd: ROOT }).sort();
const imports = sources.flatMap(importsOf);
const tests = [...sources.filter(isTest), ...globSync('test/**/*.ts', { cwd: ROOT })];

describe('architecture', () => {
  test('every file is in a room of the table, or on the rim', () => {
    const strays = sources.filter((file) => !(roomOf(file) in ROOMS) && !RIM.includes(roomOf(file)));
    assert.deepEqual(strays, []);
  });

  test('a room imports only the rooms it may', () => {
    const forbidden = imports.filter(({ file, from, target }) => {
      if (target === undefined || RIM.includes(from) || isTest(file)) return false;
      const to = roomOf(join('src', target));
      return to !== from && !ROOMS[from]?.includes(to);
    });
    assert.deepEqual(forbidden.map(describeImport), []);
  });

  test('nothing imports the tests, except tests', () => {
    const forbidden = imports.filter(
      ({ file, specifier }) => !isTest(file) && /\/test\/|\.(test|suite)\.ts$/.test(specifier),
    );
    assert.deepEqual(forbidden.map(describeImport), []);
  });

  test('contract and client, and the files of the model that they import, use nothing of Node', () => {
    const own = imports.filter(({ file, from }) => ANYWHERE.includes(from) && !isTest(file));
    const reached = new Set(own);
    for (const { target = '' } of reached)
      for (const next of imports) if (next.file === join('src', target)) reached.add(next);
    const forbidden = [...reached].filter(({ specifier }) => specifier.startsWith('node:'));
    assert.deepEqual(forbidden.map(describeImport), []);
  });

  test('relative paths stay inside a room, # paths lead to another; contract and client use relative paths between them', () => {
    const wrong = imports.filter(({ from, specifier, target }) => {
      if (target === undefined) return false;
      const isOwn = roomOf(join('src', target)) === from;
      if (ANYWHERE.includes(from)) return false;
      return specifier.startsWith('#') ? isOwn : !isOwn && !RIM.includes(from);
    });
    assert.deepEqual(wrong.filter(({ file }) => !isTest(file)).map(describeImport), []);
  });

  test('no files import each other in a circle', () => {
    assert.deepEqual(findCircle(), undefined);
  });

  test(`no file is longer than ${MAX_FILE_LINES} lines`, () => {
    const files = [...sources, ...globSync('{test,bench}/**/*.ts', { cwd: ROOT })];
    const long = files.filter((file) => read(file).split('\n').length - 1 > MAX_FILE_LINES);
    assert.deepEqual(long, []);
  });

  test('edge code reads of a request only fields that ready answers account for', () => {
    for (const [pattern, rooms, files] of REQUEST_READERS) {
      const readers = sources.filter((file) => !isTest(file) && rooms.test(file) && pattern.test(read(file)));
      assert.deepEqual(readers, files, String(pattern));
    }
  });

  test('control reads of a call only fields that both of its readers know, and no hook sees the calls of one alone', () => {
    for (const [pattern, files] of CALL_READERS) {
      const readers = sources.filter((file) => !isTest(file) && roomOf(file) === 'api' && pattern.test(read(file)));
      assert.deepEqual(readers, files, String(pattern));
    }
    const app = read('src/api/http/fastify-app.ts');
    assert.deepEqual([...app.matchAll(/addHook\('(\w+)'/g)].map(([, hook]) => hook).sort(), [
      'onRequest',
      'onResponse',
      'preClose', // ends streams, which are no calls
    ]);
    const elsewhere = app.replaceAll(/callFieldsOf\((?:request\.)?headers\)/g, '');
    assert.doesNotMatch(elsewhere, /request\.headers|(?<!reply)\.headers\b(?!\()|\bheaders(?:\[|\?)/);
  });

  test('internals of Node are used in lib/node-internals only', () => {
    const users = sources.filter((file) => !isTest(file) && /'_handle'|getOwnPropertySymbols/.test(read(file)));
    assert.deepEqual(
      users.filter((file) => !file.startsWith('src/lib/node-internals/')),
      [],
    );
    assert.ok(users.length > 0);
  });

  test('every file of src opens with a comment that says what it owns', () => {
    const silent = sources.filter((file) => !isTest(file) && !read(file).startsWith('/**'));
    assert.deepEqual(silent, []);
  });

  test('a test declares its needs in one call, and never spreads them: the last one would hide the others', () => {
    assert.deepEqual(tests.flatMap(spreadNeeds), []);
  });

  test('a test skips only by its declared needs', () => {
    const skipping = tests.filter(
      (file) => !file.startsWith('test/support/runner/needs.') && /\bskip: |\.skip\(|\.todo\(/.test(read(file)),
    );
    assert.deepEqual(skipping, []);
  });

  test('a program that not every machine has is run through obtain(), never by its name', () => {
    assert.deepEqual(tests.flatMap(programsByName), []);
  });

  test('ARCHITECTURE.md shows the same table of rooms', () => {
    const rows = [...read('ARCHITECTURE.md').matchAll(/^\| `(\w+)` \| .*? \| ([^|]*) \|$/gm)].map(
      ([, room = '', allowed = '']): [string, string[]] => [room, allowed.replace(/\(.*?\)/g, '').match(/\w+/g) ?? []],
    );
    const documented = Object.fromEntries(rows.filter(([room]) => room in ROOMS));
    const expected = Object.fromEntries(
      Object.entries(ROOMS).map(([room, allowed]) => [room, room === 'roles' ? ['all'] : [...allowed]]),
    );
    const sorted = (table: Record<string, string[]>) =>
      Object.fromEntries(Object.entries(table).map(([room, allowed]) => [room, [...allowed].sort()]));
    assert.deepEqual(sorted(documented), sorted(expected));
  });
});

/** Spread calls of `needs`, and spread constants that hold one. */
function spreadNeeds(file: string): string[] {
  const text = read(file);
  const constants = [...text.matchAll(/const (\w+) = needs\(/g)].map(([, name = '']) => name);
  const spread = new RegExp(`\\.\\.\\.(?:${['needs\\(', ...constants.map((name) => `${name}\\b`)].join('|')})`, 'g');
  return file === NEEDS_FILE ? [] : [...text.matchAll(spread)].map(([found]) => `${file}: ${found}`);
}

/** Returns the programs that a file runs by name through `node:child_process`, whatever it calls `promisify(execFile)`. */
function programsByName(file: string): string[] {
  const text = read(file);
  const aliases = [...text.matchAll(/const (\w+) = promisify\(execFile\)/g)].map(([, name = '']) => name);
  const functions = ['exec', 'execFile', 'execFileSync', 'execSync', 'spawn', 'spawnSync', ...aliases].join('|');
  const named = [...text.matchAll(new RegExp(`(?<!\\.)\\b(?:${functions})\\)?\\(\\s*'([^']+)'`, 'g'))];
  return named.flatMap(([, name = '']) =>
    EVERYWHERE.includes(name) || name.startsWith('/nonexistent/') ? [] : [`${file}: ${name}`],
  );
}

function importsOf(file: string): Import[] {
  const pattern =
    /(?:^|\n)\s*(?:import|export)\b[^;'"]*?\bfrom\s*'([^']+)'|\bimport\(\s*'([^']+)'\s*\)|(?:^|\n)import\s*'([^']+)'/g;
  return [...read(file).matchAll(pattern)].map(([, a, b, c]) => {
    const specifier = a ?? b ?? c ?? '';
    return { file, from: roomOf(file), specifier, target: resolveImport(file, specifier) };
  });
}

function resolveImport(file: string, specifier: string): string | undefined {
  if (specifier === '#config') return 'config.ts';
  if (specifier.startsWith('#')) return specifier.slice(1);
  if (!specifier.startsWith('.')) return undefined;
  const path = normalize(join(dirname(file), specifier));
  return path.startsWith('src/') ? relative('src', path) : undefined;
}

function roomOf(file: string): string {
  return file.split('/')[1] ?? '';
}

function isTest(file: string): boolean {
  return /\.(test|suite)\.ts$/.test(file);
}

function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

function describeImport({ file, specifier }: Import): string {
  return `${file} imports ${specifier}`;
}

/** Depth-first search over the imports, type-only ones included; gives the first circle's path. */
function findCircle(): readonly string[] | undefined {
  const next = Map.groupBy(imports, ({ file }) => file);
  const done = new Set<string>();
  const visit = (file: string, path: readonly string[]): readonly string[] | undefined => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return undefined;
    done.add(file);
    for (const { target } of next.get(file) ?? []) {
      const circle = target === undefined ? undefined : visit(join('src', target), [...path, file]);
      if (circle !== undefined) return circle;
    }
    return undefined;
  };
  for (const file of sources) {
    const circle = visit(file, []);
    if (circle !== undefined) return circle;
  }
  return undefined;
}
