/** Counts of the word lint per room, as the committed baseline `test/words.json` has them. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Finding, type FindingKind, lintWords } from './word-lint.ts';

export interface PlacedFinding extends Finding {
  readonly file: string;
  readonly room: string;
}

/** Room → kind → how many. A room without findings has no row. */
export type WordCounts = Readonly<Record<string, Readonly<Record<FindingKind, number>>>>;

export const BASELINE_FILE = 'test/words.json';
/** File whose samples are findings on purpose. */
const SAMPLES_FILE = 'test/architecture-words.test.ts';
const ROOT = join(import.meta.dirname, '../../..');

/** Everything that the lint finds in `src`, `console`, `test` and `bench`, in the order of the files' paths. */
export function findWords(): PlacedFinding[] {
  return globSync('{src,console,test,bench}/**/*.{ts,tsx}', { cwd: ROOT, exclude: [SAMPLES_FILE] })
    .sort()
    .flatMap((file) =>
      lintWords(readFileSync(join(ROOT, file), 'utf8')).map((finding) => ({ file, room: roomOf(file), ...finding })),
    );
}

export function countWords(findings: readonly PlacedFinding[]): WordCounts {
  const rooms = [...Map.groupBy(findings, ({ room }) => room)].sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(
    rooms.map(([room, found]) => {
      const count = (kind: FindingKind) => found.filter((finding) => finding.kind === kind).length;
      return [room, { opening: count('opening'), relative: count('relative'), title: count('title') }];
    }),
  );
}

export function readBaseline(): WordCounts {
  return JSON.parse(readFileSync(join(ROOT, BASELINE_FILE), 'utf8')) as WordCounts;
}

/** The room of a source file; `test` for all tests, wherever they are; `console`; `bench`; `src` for files beside the rooms. */
function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/');
  if (/\.(?:test|suite)\.ts$/.test(file)) return 'test';
  if (top !== 'src') return top;
  return room.endsWith('.ts') ? 'src' : room;
}
