/**
 * Runs tests and ends with one line, `N passed, N failed, N skipped`. Failures are shown in full and repeated at the end, skipped
 * tests by name with their reason, and where most processor time went. Arguments are files to run instead of all; `--soak`: of the long ones; `--machines`: of those that make another
 * machine; `--bare`: of the short ones as if no optional program were installed. Exit code 1 when anything failed or nothing ran.
 * `CAUSEWAY_TEST_MACHINES=true` runs those of other machines beside the short ones.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative, resolve } from 'node:path';
import type { EventData } from 'node:test';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { POSTGRES_TEMPLATE, SQLITE_TEMPLATE } from './support/db/templates.ts';
import { makeBarePath } from './support/runner/bare-path.ts';
import { failureText } from './support/runner/failure-text.ts';
import { canNeedSomething, filesToRun, type Kind } from './support/runner/files-to-run.ts';
import { ProcessorTimes } from './support/runner/processor-time.ts';
import { LAST_TEST, shareProcesses, writeTogether } from './support/runner/share-processes.ts';
import { startPostgres } from './support/runner/start-postgres.ts';

const ROOT = resolve(import.meta.dirname, '..');
/** Two for each processor of a small machine: files that start whole services wait for much. */
const CONCURRENT_PROCESSES = 4;
const TIMEOUT_MS: Readonly<Record<Kind, number>> = {
  '': 400_000,
  '--bare': 400_000,
  '--machines': 900_000, // two to four minutes on a quiet machine; a crowded one has to pass too
  '--soak': 3_600_000,
};
/** What a shell tells of a process that such a signal ended. */
const SIGNALS = { SIGINT: 130, SIGTERM: 143, SIGHUP: 129 } as const;

const counts = { passed: 0, failed: 0, skipped: 0 };
const skipped: string[] = [];
const failures: string[] = [];
const times = new ProcessorTimes();
const interrupted = new AbortController();
for (const [signal, code] of Object.entries(SIGNALS))
  process.once(signal, () => {
    process.exitCode = code;
    interrupted.abort();
  });

const { kind, files } = filesToRun(process.argv.slice(2), ROOT);
const isWhole = kind === '' && process.argv.length === 2;
// Another machine takes minutes, most of them spent waiting for packages.
const others =
  isWhole && process.env['CAUSEWAY_TEST_MACHINES'] === 'true' ? filesToRun(['--machines'], ROOT).files : [];
await Promise.all([others.length > 0 && runTests('--machines', others), runTests(kind, files)]);

process.stdout.write('\n');
for (const line of skipped) process.stdout.write(`skipped ${line}\n`);
for (const text of failures) process.stdout.write(text);
for (const line of times.lines) process.stdout.write(`${line}\n`);
process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
process.exitCode ??= counts.failed > 0 || counts.passed === 0 ? 1 : 0;

async function runTests(kind: Kind, files: readonly string[]): Promise<void> {
  if (interrupted.signal.aborted) return;
  await using cleanups = new AsyncDisposableStack();
  const paths = pathsOf(kind, files, cleanups);
  const events = run({
    files: paths,
    concurrency: CONCURRENT_PROCESSES,
    // Tags, which needs are declared by, are experimental in Node 26.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    env: { ...process.env, ...(await environmentOf(kind, files, cleanups)) },
    timeout: TIMEOUT_MS[kind],
    signal: interrupted.signal,
  });
  const isProcess = ({ nesting, name }: EventData.TestPass) => nesting === 0 && paths.includes(name);
  const unfinished = new Set(kind === '' || kind === '--bare' ? paths : []);
  events.on('test:pass', (event) => {
    if (event.nesting === 0 && event.name === LAST_TEST) unfinished.delete(event.file ?? '');
    else if (event.skip !== undefined) {
      counts.skipped += 1;
      skipped.push(`${nameOf(event)}: ${event.skip}`);
      // The runner reports each process as a test around its tests; only its failure (it crashed) counts.
    } else if (event.details.type !== 'suite' && !isProcess(event)) counts.passed += 1;
  });
  events.on('test:diagnostic', (event) => times.note(event));
  events.on('test:fail', (event) => {
    if (event.details.type !== 'suite') counts.failed += 1;
    const text = failureText(event, nameOf(event));
    if (text !== undefined) failures.push(text);
  });
  const told = events.compose(spec);
  told.pipe(process.stdout, { end: false });
  await once(told, 'end');
  for (const path of unfinished) failures.push(`failed not all tests have run: ${path}\n`);
  counts.failed += unfinished.size;
}

/** Returns the modules to run, each in a process of its own: the short tests share some. */
function pathsOf(kind: Kind, files: readonly string[], cleanups: AsyncDisposableStack): string[] {
  if (kind === '--soak' || kind === '--machines') return files.map((file) => resolve(ROOT, file));
  const folder = mkdtempSync(join(tmpdir(), 'causeway-tests-'));
  cleanups.defer(() => rmSync(folder, { recursive: true }));
  return shareProcesses(files, ROOT).map((together) => writeTogether(together, ROOT, folder));
}

/** Returns the variables that the tests get in addition to the environment of this process. */
async function environmentOf(
  kind: Kind,
  files: readonly string[],
  cleanups: AsyncDisposableStack,
): Promise<NodeJS.ProcessEnv> {
  if (kind === '--soak') return await postgresFor(files, cleanups); // figures are of the product as it starts elsewhere
  const shared = makeShared();
  if (kind === '--machines') return shared;
  if (kind === '--bare') {
    const path = makeBarePath();
    cleanups.defer(() => rmSync(path, { recursive: true }));
    return { ...shared, PATH: path, CAUSEWAY_TEST_BARE: 'true', CAUSEWAY_TEST_POSTGRES: undefined };
  }
  return { ...shared, ...(await postgresFor(files, cleanups)) };
}

/** A server of the run's own where none is named and a test may use it. */
async function postgresFor(files: readonly string[], cleanups: AsyncDisposableStack): Promise<NodeJS.ProcessEnv> {
  if (process.env['CAUSEWAY_TEST_POSTGRES'] || !files.some((file) => canNeedSomething(file, ROOT))) return {};
  const server = await startPostgres();
  if (server === undefined) return {};
  cleanups.use(server);
  const env = { CAUSEWAY_TEST_POSTGRES: server.url };
  const maker = join(ROOT, 'test/support/db/make-postgres-template.ts');
  const made = execFileSync(process.execPath, [maker], { encoding: 'utf8', env: { ...process.env, ...env } });
  return { ...env, [POSTGRES_TEMPLATE]: made.trim() };
}

/** What the processes of the run share: what Node made of each module, which is half of what starting one costs, and a database. */
function makeShared(): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'causeway-shared-'));
  // A process that was killed with its test may be about to write there.
  process.once('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 10 }));
  return { NODE_COMPILE_CACHE: join(folder, 'compiled'), [SQLITE_TEMPLATE]: join(folder, 'causeway.db') };
}

function nameOf(event: EventData.TestPass): string {
  const file = event.file === undefined ? '' : `${relative(ROOT, event.file)} › `;
  return `${file}${event.name}`;
}
