/** The former release, whose edges and controls have to get on with those of this one. */
import { execFileSync } from 'node:child_process';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { obtain } from '../runner/needs.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');

/** Writes the tree of the former release to a folder, with this one's packages. Returns the path of its command. */
export function checkOutFormerRelease(t: Cleanup): string {
  const folder = temporaryFolder(t);
  // An index of its own: that of this checkout stays as it is.
  const env = { ...process.env, GIT_INDEX_FILE: join(folder, 'index') };
  const git = (...args: readonly string[]) => execFileSync('git', ['-C', ROOT, ...args], { env });
  git('read-tree', obtain('formerRelease'));
  git('checkout-index', '--all', `--prefix=${join(folder, 'tree')}/`);
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'tree', 'node_modules'));
  return join(folder, 'tree', 'bin', 'causeway.js');
}
