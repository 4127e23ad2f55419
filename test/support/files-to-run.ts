/** Which files of tests a run is about. */
import { globSync } from 'node:fs';

/** Those that are named; else all of `root`: with `--soak` first the long ones, else the others. */
export function filesToRun([first, ...rest]: readonly string[], root: string): readonly string[] {
  const isSoak = first === '--soak';
  const named = isSoak || first === undefined ? rest : [first, ...rest];
  if (named.length > 0) return named;
  return globSync(isSoak ? 'test/soak/*.soak.ts' : '{src,test}/**/*.test.ts', { cwd: root }).sort();
}
