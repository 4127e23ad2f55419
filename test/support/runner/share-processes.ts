/** Which test files share a process. docs/decisions/0543 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { reachedFrom } from './files-to-run.ts';

/** Starting a process and loading a room's modules costs about half a second of processor time, which these files share. */
const FILES_PER_PROCESS = 12;

/** Tests of what a whole process uses or holds. */
const IS_ABOUT_ITS_PROCESS =
  /\bmemoryUsage\b|\bcpuUsage\b|\bresident|\bgetActiveResourcesInfo\b|\bdiagnostics_channel\b|\bmock\.timers\b/;

/**
 * Returns the given files in lists, each of which is to run in one process: neighbors in a room together; alone, and first, those
 * that start whole services, since they wait for much, and those whose assertions are about their process.
 */
export function shareProcesses(files: readonly string[], root: string): readonly (readonly string[])[] {
  const [alone, rooms]: [string[][], Map<string, string[]>] = [[], new Map()];
  for (const file of files) {
    if (runsAlone(resolve(root, file), root)) alone.push([file]);
    else {
      const room = file.split('/').slice(0, 2).join('/');
      rooms.set(room, [...(rooms.get(room) ?? []), file]);
    }
  }
  return [...alone, ...[...rooms.values()].flatMap(chunks)];
}

function runsAlone(path: string, root: string): boolean {
  return (
    IS_ABOUT_ITS_PROCESS.test(readFileSync(path, 'utf8')) ||
    reachedFrom(path).has(join(root, 'test/support/process/service.ts'))
  );
}

function chunks(files: readonly string[]): readonly (readonly string[])[] {
  const count = Math.ceil(files.length / FILES_PER_PROCESS);
  return Array.from({ length: count }, (_, index) =>
    files.slice(Math.floor((index * files.length) / count), Math.floor(((index + 1) * files.length) / count)),
  );
}

/** Name of the last test of each process: one that ends before, as by `process.exit`, has run only some of its tests. */
export const LAST_TEST = 'every test of this process has run';

/** Writes a module into the folder that runs these test files one after the other, and returns its path. */
export function writeTogether(files: readonly string[], root: string, folder: string): string {
  const [first = ''] = files;
  const more = files.length > 1 ? `-and-${files.length - 1}-more` : '';
  const path = join(folder, `${first.replaceAll('/', '-').replace(/\.test\.ts$/, '')}${more}.test.ts`);
  const imports = files.map((file) => `import ${JSON.stringify(resolve(root, file))};\n`);
  const last = `import { test } from 'node:test';\ntest(${JSON.stringify(LAST_TEST)}, () => {});\n`;
  writeFileSync(path, imports.join('') + last);
  return path;
}
