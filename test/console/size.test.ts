/** What the console weighs on the wire, by the manifest of its build: KiB of gzip at its best. docs/decisions/0652 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { before, describe, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { buildConsole, DIST } from '../support/console/built-console.ts';

interface Chunk {
  readonly file: string;
  readonly isEntry?: boolean;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

const BUDGET_KIB = { entryScripts: 115, styles: 12, ownOfPage: 70, domains: 150, page: 200 };
/** What plays a video is loaded when one is played. docs/decisions/0703 */
const PLAYER_KIB = { ownOfPage: 130, page: 260 };
const PLAYERS = ['pages/streams/flv-player.tsx', 'pages/streams/hls-player.tsx'];

describe('weight of the console', () => {
  let chunks: Readonly<Record<string, Chunk>> = {};
  before(() => {
    buildConsole();
    chunks = JSON.parse(readFileSync(join(DIST, '.vite/manifest.json'), 'utf8'));
  });

  test('the first load stays within its budget', () => {
    const { scripts, styles } = filesOf(chunks, entriesOf(chunks));
    assertWithin('scripts', scripts, BUDGET_KIB.entryScripts);
    assertWithin('style sheets', styles, BUDGET_KIB.styles);
  });

  test('the list of domains, where most visits begin, stays within its budget', () => {
    const { scripts, styles } = filesOf(chunks, [...entriesOf(chunks), 'pages/domains/domains.tsx']);
    assertWithin('the list of domains', [...scripts, ...styles], BUDGET_KIB.domains);
  });

  test('what a page loads beside it stays within its budget, and so does all that it needs', () => {
    const first = filesOf(chunks, entriesOf(chunks));
    for (const [name, chunk] of Object.entries(chunks)) {
      if (chunk.isEntry === true) continue;
      const { scripts, styles } = filesOf(chunks, [name]);
      const own = scripts.filter((file) => !first.scripts.includes(file));
      const budget = PLAYERS.includes(name) ? PLAYER_KIB : BUDGET_KIB;
      assertWithin(`own scripts of ${name}`, own, budget.ownOfPage);
      assertWithin(name, [...new Set([...first.scripts, ...first.styles, ...scripts, ...styles])], budget.page);
    }
  });
});

function entriesOf(chunks: Readonly<Record<string, Chunk>>): readonly string[] {
  const entries = Object.keys(chunks).filter((name) => chunks[name]?.isEntry === true);
  assert.equal(entries.length, 1, 'one page with one entry');
  return entries;
}

/** Returns the files that are loaded for some chunks, without what these load later. */
function filesOf(chunks: Readonly<Record<string, Chunk>>, names: readonly string[]) {
  const reached = new Set(names);
  for (const name of reached) for (const imported of chunks[name]?.imports ?? []) reached.add(imported);
  const found = [...reached].map((name) => chunks[name] ?? assert.fail(`the manifest has no ${name}`));
  const scripts = found.map(({ file }) => file).filter((file) => file.endsWith('.js'));
  return { scripts, styles: [...new Set(found.flatMap(({ css = [] }) => css))] };
}

function assertWithin(what: string, files: readonly string[], budgetKib: number): void {
  const bytes = files.reduce((sum, file) => sum + gzipSync(readFileSync(join(DIST, file)), { level: 9 }).length, 0);
  const kib = bytes / 1024;
  assert.ok(kib <= budgetKib, `${what}: ${kib.toFixed(1)} KiB, expected at most ${budgetKib}`);
}
