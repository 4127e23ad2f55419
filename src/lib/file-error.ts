/**
 * Adds file names to errors: errors of SQLite lack them, as do errors of writes to an open file, such as a full disk.
 */

/**
 * Runs `work` and prefixes the message of an error that it throws with `file`. The error's class and codes are kept.
 */
export function namingFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw nameFile(file, error);
  }
}

/** Returns the same error, with the file's name in its message. */
export function nameFile(file: string, error: unknown): unknown {
  if (error instanceof Error && !error.message.includes(file)) error.message = `${file}: ${error.message}`;
  return error;
}

/** Reasons in words. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or folder',
  EACCES: 'this user has no permission',
  EISDIR: 'it is a folder',
  ENOTDIR: 'what should be a folder is a file',
  EEXIST: 'it already exists',
};

/** Returns the reason in words for a code of the system about a file that a user has named; an unusual code stays. */
export function describeFileCode(code: string): string {
  return PROBLEMS[code] ?? code;
}

export function describeFileError(error: unknown): string {
  return describeFileCode(error instanceof Error && 'code' in error ? String(error.code) : String(error));
}

/** Whether the error has this code of the system, such as `ENOENT`. */
export function hasCode(error: unknown, code: string): boolean {
  return error instanceof Error && 'code' in error && error.code === code;
}

/** Returns `undefined` if the file that `work` needs does not exist. */
export async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
