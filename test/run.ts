/**
 * Runs every test and ends with one line, `N passed, N failed, N skipped`. Failures are shown in full, skipped tests by
 * name with their reason. Arguments are files to run instead of all; `--soak`: of the long ones. Exit code 1 when anything failed or nothing ran.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { EventData } from 'node:test';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { filesToRun } from './support/files-to-run.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** Three files at a time: the end-to-end files start whole services and wait for much, and more at once only makes them slow. */
const CONCURRENT_FILES = 3;
const TEST_TIMEOUT_MS = 400_000;
/** `npm run soak` runs the long ones. */
const SOAK_TIMEOUT_MS = 3_600_000;

const files = filesToRun(process.argv.slice(2), ROOT);
const isSoak = files.some((file) => file.endsWith('.soak.ts'));
const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped: string[] = [];

const events = run({
  files: files.map((file) => resolve(ROOT, file)),
  concurrency: CONCURRENT_FILES,
  // Tags, which `needs(…)` declares by, are experimental in Node 26.
  execArgv: ['--disable-warning=ExperimentalWarning'],
  // The figures of the long ones are of the product as it starts elsewhere.
  env: isSoak ? process.env : { ...process.env, NODE_COMPILE_CACHE: makeCompileCache() },
  timeout: isSoak ? SOAK_TIMEOUT_MS : TEST_TIMEOUT_MS,
});
events.on('test:pass', (event) => {
  if (event.skip !== undefined) {
    counts.skipped += 1;
    skipped.push(`${nameOf(event)}: ${event.skip}`);
  } else if (event.details.type !== 'suite' && !isFile(event)) counts.passed += 1;
});
events.on('test:fail', (event) => {
  if (event.details.type !== 'suite') counts.failed += 1;
});
events.compose(spec).pipe(process.stdout);
await new Promise((resolve) => events.on('end', resolve));

process.stdout.write('\n');
for (const line of skipped) process.stdout.write(`skipped ${line}\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode = counts.failed > 0 || counts.passed === 0 ? 1 : 0;

/** Where Node keeps what it made of each module for the other processes of the run, which is half of what starting one costs. */
function makeCompileCache(): string {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-compiled-'));
  // A process that was killed with its test may be about to write there.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return folder;
}

function nameOf(event: EventData.TestPass): string {
  const file = event.file === undefined ? '' : `${relative(ROOT, event.file)} › `;
  return `${file}${event.name}`;
}

/** The runner reports each file as a test around its tests; only its failure (it crashed) counts. */
function isFile(event: EventData.TestPass): boolean {
  return event.nesting === 0 && files.includes(relative(ROOT, event.name));
}
