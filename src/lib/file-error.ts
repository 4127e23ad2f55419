/** Errors of files that say which file: those of SQLite do not, nor those of writes to a file that is open, such as a full disk. */

/** Runs `work`; an error that it throws begins with `file`. Its class and its codes stay. */
export function namingFile<T>(file: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw nameFile(file, error);
  }
}

/** Returns the same error, its message with the file's name. */
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
