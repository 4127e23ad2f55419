/** Files that the user names. */
import { readFileSync } from 'node:fs';
import { describeFileError } from '#lib/file-error.ts';
import { CliError } from './context.ts';

/** Reads a text file; throws `CliError` with the reason. */
export function readUserFile(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new CliError(`cannot read ${path}: ${describeFileError(error)}`, { cause: error });
  }
}
