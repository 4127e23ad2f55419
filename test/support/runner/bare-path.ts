/** What a run without optional programs finds on its PATH. */
import { mkdtempSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { EVERYWHERE, findProgram } from './needs.ts';

/** Makes a folder with links to the programs that are everywhere, and nothing else. */
export function makeBarePath(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-bare-'));
  for (const name of EVERYWHERE) {
    const program = findProgram(name);
    if (program !== undefined) symlinkSync(program, join(folder, name));
  }
  return folder;
}
