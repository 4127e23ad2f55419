/**
 * Prints the lines of code of `src/` by room, without comments, blank lines and tests: `node test/support/docs/count-lines.ts [path]`.
 * `--since <revision>` adds the counts at that revision and the difference.
 */
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { countCodeLines } from './code-lines.ts';

const { values, positionals } = parseArgs({ options: { since: { type: 'string' } }, allowPositionals: true });
const [path = 'src'] = positionals;

const now = countRooms(globSync(`${path}/**/*.ts`), (file) => readFileSync(file, 'utf8'));
const { since } = values;
const before = since === undefined ? undefined : countRooms(filesAt(since), (file) => git('show', `${since}:${file}`));
const rooms = [...new Set([...now.keys(), ...(before?.keys() ?? [])])].sort();
const rows = rooms.map((room) => [room, rowOf(now.get(room) ?? 0, before && (before.get(room) ?? 0))] as const);
console.table(Object.fromEntries([...rows, ['all', rowOf(sum(now), before && sum(before))]]));

function countRooms(files: readonly string[], read: (file: string) => string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const file of files) {
    if (/\.(?:test|suite)\.ts$/.test(file)) continue;
    const [, room = '.'] = /^src\/([^/]+)\//.exec(file) ?? [];
    counts.set(room, (counts.get(room) ?? 0) + countCodeLines(read(file)));
  }
  return counts;
}

function rowOf(lines: number, earlier: number | undefined): Record<string, number> {
  return earlier === undefined ? { lines } : { before: earlier, lines, change: lines - earlier };
}

function sum(counts: ReadonlyMap<string, number>): number {
  return [...counts.values()].reduce((total, lines) => total + lines, 0);
}

function filesAt(revision: string): string[] {
  return git('ls-tree', '-r', '--name-only', revision, path)
    .split('\n')
    .filter((file) => file.endsWith('.ts'));
}

function git(...args: readonly string[]): string {
  return execFileSync('git', args, { encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
}
