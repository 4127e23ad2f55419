/**
 * Prints the findings of the word lint: `node test/support/docs/report-words.ts [room or path]…`. With `--since <revision>` only
 * those that are new since then; with `--lower` the baseline is written anew, for rooms that have fewer.
 */
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import {
  BASELINE_FILE,
  countWords,
  findWords,
  type PlacedFinding,
  readBaseline,
  type WordCounts,
} from './word-count.ts';
import { type FindingKind, lintWords } from './word-lint.ts';

const KINDS: readonly FindingKind[] = ['opening', 'relative', 'title'];

const { values, positionals } = parseArgs({
  options: { since: { type: 'string' }, lower: { type: 'boolean', default: false } },
  allowPositionals: true,
});

const all = findWords();
const chosen = all.filter(
  ({ file, room }) => positionals.length === 0 || positionals.some((name) => name === room || file.startsWith(name)),
);
const shown = values.since === undefined ? chosen : addedSince(values.since, chosen);
for (const { file, line, kind, excerpt } of shown) console.log(`${file}:${line}: ${kind}: ${excerpt}`);
console.table(countWords(shown));
if (values.lower)
  writeFileSync(BASELINE_FILE, `${JSON.stringify(lowered(readBaseline(), countWords(all)), null, 2)}\n`);

/** Findings whose words the file did not have at `revision`. A file that was not there then has only new ones. */
function addedSince(revision: string, findings: readonly PlacedFinding[]): PlacedFinding[] {
  const before = new Map<string, ReadonlySet<string>>();
  return findings.filter(({ file, excerpt }) => {
    const known = before.get(file) ?? new Set(lintWords(textAt(revision, file)).map((finding) => finding.excerpt));
    before.set(file, known);
    return !known.has(excerpt);
  });
}

function textAt(revision: string, file: string): string {
  try {
    return execFileSync('git', ['show', `${revision}:${file}`], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  } catch {
    return ''; // not in that revision
  }
}

/** Each number of the baseline, or the present one where that is smaller. Rooms that the baseline lacks start with nothing. */
function lowered(baseline: WordCounts, now: WordCounts): WordCounts {
  return Object.fromEntries(
    Object.entries(baseline).flatMap(([room, counts]) => {
      const lower = Object.fromEntries(KINDS.map((kind) => [kind, Math.min(counts[kind], now[room]?.[kind] ?? 0)]));
      return Object.values(lower).some((count) => count > 0) ? [[room, lower as WordCounts[string]]] : [];
    }),
  );
}
