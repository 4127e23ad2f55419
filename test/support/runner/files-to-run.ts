/** Which files of tests a run is about. */
import { globSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** What is run where no files are named, by the option that asks for it. */
const KINDS = {
  /** The short ones. */
  '': allTests,
  /** The long ones. */
  '--soak': (root: string) => globSync('test/soak/*.soak.ts', { cwd: root }).sort(),
  /** Tests that make another machine. */
  '--machines': (root: string) => globSync('test/machines/*.machine.ts', { cwd: root }).sort(),
  /** Some of the short ones: those that declare needs, without those that start whole services. */
  '--bare': (root: string) => allTests(root).filter((file) => declaresNeeds(join(root, file), root)),
} as const;

export type Kind = keyof typeof KINDS;

/** The kind that the first argument asks for, and the files that are named, else all of that kind. Paths are relative to `root`. */
export function filesToRun(
  args: readonly string[],
  root: string,
): { readonly kind: Kind; readonly files: readonly string[] } {
  const kind = Object.keys(KINDS).find((known): known is Kind => known === args[0]) ?? '';
  const named = kind === '' ? args : args.slice(1);
  return { kind, files: named.length > 0 ? named : KINDS[kind](root) };
}

/** Whether a file, or what it imports, can reach what a test has to declare. */
export function canNeedSomething(file: string, root: string): boolean {
  return reachedFrom(resolve(root, file)).has(join(root, 'test/support/runner/needs.ts'));
}

/**
 * A file that declares needs itself. Many suites run on both engines, and need nothing else: skipping one of them shows what there is
 * to see.
 */
function declaresNeeds(path: string, root: string): boolean {
  const support = (name: string) => join(root, 'test/support', name);
  return importsOf(path).includes(support('runner/needs.ts')) && !reachedFrom(path).has(support('process/service.ts'));
}

/** Returns all tests, those that start whole services first: short ones end a run, and no processor waits for the last. */
function allTests(root: string): readonly string[] {
  return ['test', 'src', 'console'].flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: root }).sort());
}

/** Returns the path itself and the files that it imports by relative paths, directly or through others. */
export function reachedFrom(path: string, reached = new Set<string>()): ReadonlySet<string> {
  if (reached.has(path)) return reached;
  reached.add(path);
  for (const imported of importsOf(path)) reachedFrom(imported, reached);
  return reached;
}

/** Returns the relative imports of a file. */
function importsOf(path: string): readonly string[] {
  const specifiers = readFileSync(path, 'utf8').matchAll(/\bfrom '(\.[^']+\.ts)'/g);
  return [...specifiers].map(([, specifier = '']) => join(dirname(path), specifier));
}
