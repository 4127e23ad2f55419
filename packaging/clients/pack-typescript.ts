/**
 * Packs the typed client with all that it needs as an npm package that installs without a registry:
 * `node packaging/clients/pack-typescript.ts FOLDER` prints the path of the .tgz.
 */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const ROOT = join(import.meta.dirname, '../..');
/** What the contract is checked with at run time; the package brings it along. */
const BUNDLED = ['zod'];

const { version, license, dependencies } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));

const MANIFEST = {
  name: 'causeway-client',
  version,
  description: 'Typed client of the Causeway interface',
  license,
  type: 'module',
  engines: { node: '>=20.3' },
  exports: { '.': './dist/index.js', './contract/*.js': './dist/contract/*.js' },
  files: ['dist'],
  dependencies: Object.fromEntries(BUNDLED.map((name) => [name, dependencies[name]])),
  bundleDependencies: BUNDLED,
};

/** The files of `client/` that a program imports from, as the package's one entry. */
const ENTRY = ['client', 'client-error', 'transport'].map((name) => `export * from './client/${name}.js';\n`).join('');

/** Nothing of Node's types: the client runs anywhere. */
const COMPILER_OPTIONS = {
  noEmit: false,
  declaration: true,
  rewriteRelativeImportExtensions: true,
  lib: ['esnext', 'dom'],
  types: [],
  rootDir: join(ROOT, 'src'),
};

const [folder = '.'] = process.argv.slice(2);
const staging = mkdtempSync(join(tmpdir(), 'causeway-client-'));
try {
  const project = join(staging, 'tsconfig.json');
  writeFileSync(
    project,
    JSON.stringify({
      extends: join(ROOT, 'tsconfig.json'),
      compilerOptions: { ...COMPILER_OPTIONS, outDir: join(staging, 'dist') },
      include: [],
      files: [join(ROOT, 'src/client/client.ts')],
    }),
  );
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), '--project', project]);
  for (const file of ['index.js', 'index.d.ts']) writeFileSync(join(staging, 'dist', file), ENTRY);
  for (const name of BUNDLED)
    cpSync(join(ROOT, 'node_modules', name), join(staging, 'node_modules', name), { recursive: true });
  cpSync(join(ROOT, 'LICENSE'), join(staging, 'LICENSE'));
  writeFileSync(join(staging, 'package.json'), JSON.stringify(MANIFEST, undefined, 2));
  const name = run('npm', ['pack', '--silent', '--pack-destination', resolve(folder)]).trim();
  process.stdout.write(`${join(resolve(folder), name)}\n`);
} finally {
  rmSync(staging, { recursive: true });
}

function run(program: string, words: readonly string[]): string {
  return execFileSync(program, words, { cwd: staging, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] });
}
