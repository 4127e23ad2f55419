/** Which test files share a process. docs/decisions/0543 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { reachedFrom } from './files-to-run.ts';

/** Starting a process and loading a room's modules costs about half a second of processor time, which these files share. */
const FILES_PER_PROCESS = 12;
/** The same for files that start whole services, which take long: a run should not end with one process that has many of them. */
const SERVICE_FILES_PER_PROCESS = 3;

/** Tests of what a whole process uses or holds. */
const IS_ABOUT_ITS_PROCESS =
  /\bmemoryUsage\b|\bcpuUsage\b|\bresident|\bgetActiveResourcesInfo\b|\bdiagnostics_channel\b|\bmock\.timers\b/;

/**
 * Returns the given files in lists, each of which is to run in one process: neighbors in a room together, first those that start
 * whole services, since they wait for much; alone those whose assertions are about their process.
 */
export function shareProcesses(files: readonly string[], root: string): readonly (readonly string[])[] {
  const service = join(root, 'test/support/process/service.ts');
  const {
    alone = [],
    services = [],
    others = [],
  } = Object.groupBy(files, (file) => {
    const path = resolve(root, file);
    if (IS_ABOUT_ITS_PROCESS.test(readFileSync(path, 'utf8'))) return 'alone';
    return reachedFrom(path).has(service) ? 'services' : 'others';
  });
  return [
    ...inRooms(services, SERVICE_FILES_PER_PROCESS),
    ...alone.map((file) => [file]),
    ...inRooms(others, FILES_PER_PROCESS),
  ];
}

/** Returns the files in lists of at most so many, those of a room together. */
function inRooms(files: readonly string[], most: number): readonly (readonly string[])[] {
  const rooms = Map.groupBy(files, (file) => file.split('/').slice(0, 2).join('/'));
  return [...rooms.values()].flatMap((its) => {
    const count = Math.ceil(its.length / most);
    return Array.from({ length: count }, (_, index) =>
      its.slice(Math.floor((index * its.length) / count), Math.floor(((index + 1) * its.length) / count)),
    );
  });
}

/** Name of the last test of each process: one that ends before, as by `process.exit`, has run only some of its tests. */
export const LAST_TEST = 'every test of this process has run';

/** Writes a module into the folder that runs these test files one after the other, and returns its path. */
export function writeTogether(files: readonly string[], root: string, folder: string): string {
  const [first = ''] = files;
  const more = files.length > 1 ? `-and-${files.length - 1}-more` : '';
  const path = join(folder, `${first.replaceAll('/', '-').replace(/\.test\.ts$/, '')}${more}.test.ts`);
  const imports = files.map((file) => `import ${JSON.stringify(resolve(root, file))};\n`);
  const last = [
    `import { test } from 'node:test';`,
    `import { tellProcessorTime } from ${JSON.stringify(join(import.meta.dirname, 'processor-time.ts'))};`,
    `test(${JSON.stringify(LAST_TEST)}, tellProcessorTime);\n`,
  ];
  writeFileSync(path, imports.join('') + last.join('\n'));
  return path;
}
