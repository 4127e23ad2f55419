/** Distinguishes an edge's machine and data directory from a copy of them. */
import { createHash } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';

const MACHINE_ID = '/etc/machine-id';

/**
 * Returns 64 hex digits: a hash of the machine's id, if it has one, and of the inode and creation time of the data
 * directory. The device number is left out, since it may change when the machine restarts. docs/decisions/0584
 */
export function identifyMachine(dataDir: string): string {
  const { ino, birthtimeNs } = statSync(dataDir, { bigint: true });
  return createHash('sha256').update(`${readMachineId()}:${ino}:${birthtimeNs}`).digest('hex');
}

function readMachineId(): string {
  try {
    return readFileSync(MACHINE_ID, 'utf8').trim();
  } catch {
    return ''; // containers often have none
  }
}
