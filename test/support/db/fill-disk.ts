/** Fills the file system that a file is on: for one that a test has mounted for itself. */
import { closeSync, openSync, writeSync } from 'node:fs';

export function fillDisk(file: string): void {
  const handle = openSync(file, 'w');
  try {
    for (const size of [65_536, 1]) fillBy(handle, Buffer.alloc(size));
  } finally {
    closeSync(handle);
  }
}

function fillBy(handle: number, bytes: Uint8Array): void {
  try {
    for (;;) writeSync(handle, bytes);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOSPC')) throw error;
  }
}
