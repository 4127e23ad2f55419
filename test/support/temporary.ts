/** A folder of a test's own, gone when the test ends. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** A test, or what else comes to an end. */
export interface Cleanup {
  after(work: () => unknown): void;
}

export function temporaryFolder(t: Cleanup): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-'));
  const remove = () => rmSync(folder, { recursive: true, force: true });
  t.after(() => {
    try {
      remove();
    } catch {
      // A process that the test is about to end still writes there; failing now would leave that process running.
      process.once('exit', remove);
    }
  });
  return folder;
}
