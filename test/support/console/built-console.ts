/** The console of this checkout, built as `npm start` builds it. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export const ROOT = join(import.meta.dirname, '../../..');
export const DIST = join(ROOT, 'console/dist');

/** Builds it if its sources have changed. Throws, with what the builder says, if they are wrong. */
export function buildConsole(): void {
  execFileSync(process.execPath, [join(ROOT, 'console/build.js')], { stdio: 'pipe' });
}
