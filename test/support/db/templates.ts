/**
 * Databases that are up to date, which the processes of a run share: bringing one up to date takes many times as long as copying
 * it. `test/run.ts` sets the variables; in a process that it has not started they are absent.
 */
import { copyFileSync, existsSync, mkdirSync, renameSync } from 'node:fs';
import { join } from 'node:path';

/** Variable with the path of a file that the first process makes that needs it. */
export const SQLITE_TEMPLATE = 'CAUSEWAY_TEST_SQLITE';
/** Variable with the name of a database on the server of the run. */
export const POSTGRES_TEMPLATE = 'CAUSEWAY_TEST_POSTGRES_TEMPLATE';

/** Returns the path of an SQLite file that is there; `make` makes one for this process. */
export async function sqliteTemplate(make: () => Promise<string>): Promise<string> {
  const shared = process.env[SQLITE_TEMPLATE];
  if (shared !== undefined && existsSync(shared)) return shared;
  const own = await make();
  if (shared === undefined) return own;
  const half = `${shared}.${process.pid}`; // nobody is to copy a part of it
  copyFileSync(own, half);
  renameSync(half, shared);
  return shared;
}

/** Gives a service without a data directory one with such a file, if there is one already. */
export function placeSqlite(dataDir: string): void {
  const shared = process.env[SQLITE_TEMPLATE];
  if (shared === undefined || !existsSync(shared) || existsSync(dataDir)) return;
  mkdirSync(dataDir, { mode: 0o700 });
  copyFileSync(shared, join(dataDir, 'causeway.db'));
}
