/**
 * Builds the console into `dist/` unless it was built from these sources: `node console/build.js`. The exit code is 1 if it
 * could not. Plain JavaScript, since every start runs it: Node loads nothing to strip types, and Vite only when something has
 * changed. docs/decisions/0654
 */
import { createHash } from 'node:crypto';
import { accessSync, constants, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const STAMP = join(import.meta.dirname, 'dist', '.stamp');

/** All that the console is built from; the contract imports the model. */
const INPUTS = [
  'console',
  'src/client',
  'src/contract',
  'src/model',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];

const stamp = digestInputs();
if (!existsSync(STAMP) || readFileSync(STAMP, 'utf8') !== stamp) await build();

async function build() {
  try {
    accessSync(import.meta.dirname, constants.W_OK);
    const { makeDist } = await import('./build/make-dist.ts');
    await makeDist(stamp);
  } catch (error) {
    process.stderr.write(`The console was not built: ${error.message}\n`);
    process.exitCode = 1;
  }
}

function digestInputs() {
  const hash = createHash('sha256');
  for (const file of INPUTS.flatMap((path) => listFiles(join(ROOT, path)))) {
    const bytes = readFileSync(file);
    hash.update(`${relative(ROOT, file)}\0${bytes.length}\0`).update(bytes);
  }
  return hash.digest('hex');
}

function listFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).filter(isInput).sort();
  return names.flatMap((name) => listFiles(join(path, name)));
}

/** Neither tests, nor what earlier builds have made, nor hidden files such as those of editors. */
function isInput(name) {
  return !/^\.|^dist(\.|$)|\.test\.ts$/.test(name);
}
