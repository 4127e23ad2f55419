/** A named pipe that a test may leave unread, and descriptors that are closed when the test ends. */
import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { temporaryFolder } from '../temporary.ts';

export function makePipe(t: Pick<TestContext, 'after'>): string {
  const path = join(temporaryFolder(t), 'pipe');
  execFileSync('mkfifo', [path]);
  return path;
}

export function opened(t: Pick<TestContext, 'after'>, path: string, flags: string | number): number {
  const fd = openSync(path, flags);
  t.after(() => closeSync(fd));
  return fd;
}

/** What there is to read just now, at most 64 KiB; empty when there is nothing. */
export function readSome(fd: number): string {
  const bytes = Buffer.alloc(65_536);
  try {
    return bytes.toString('utf8', 0, readSync(fd, bytes));
  } catch {
    return ''; // EAGAIN
  }
}
