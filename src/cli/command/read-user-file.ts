/** Files that the user names. */
import { readFileSync } from 'node:fs';
import { CliError } from './context.ts';

/** Reads a text file; throws `CliError` with the system's code. */
export function readUserFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : error;
    throw new CliError(`cannot read ${path}: ${code}`, { cause: error });
  }
}
