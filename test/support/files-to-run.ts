/** Which files of tests a run is about. */
import { globSync } from 'node:fs';

/** Those that are named; else all of `root`: with `--soak` first the long ones, else the others. */
export function filesToRun([first, ...rest]: readonly string[], root: string): readonly string[] {
  const isSoak = first === '--soak';
  const named = isSoak || first === undefined ? rest : [first, ...rest];
  if (named.length > 0) return named;
  if (isSoak) return globSync('test/soak/*.soak.ts', { cwd: root }).sort();
  // Those that start whole services first: the end of a run is then of short ones, and no processor waits for the last.
  return ['test', 'src'].flatMap((folder) => globSync(`${folder}/**/*.test.ts`, { cwd: root }).sort());
}
