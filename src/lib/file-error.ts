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
