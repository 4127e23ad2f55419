/** Whether this machine's own operator drains its edge: a file in the data directory, which survives every restart. */
import { existsSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

function selfDrainPath(dataDir: string): string {
  return join(dataDir, 'edge', 'drain');
}

export function drainsItself(dataDir: string): boolean {
  return existsSync(selfDrainPath(dataDir));
}

/** Returns false if no edge has run from the data directory. A running one notices it within seconds. */
export function setSelfDrain(dataDir: string, isDraining: boolean): boolean {
  const path = selfDrainPath(dataDir);
  if (!existsSync(dirname(path))) return false;
  if (isDraining) writeFileSync(path, '', { mode: 0o600 });
  else rmSync(path, { force: true });
  return true;
}
