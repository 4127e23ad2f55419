/** Whether the engine can be trusted: it must find of nginx what the suite's own engine found. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { needs, obtain } from '../support/runner/needs.ts';
import { temporaryFolder } from '../support/temporary.ts';
import { runCacheTests } from './engine.ts';
import { startSuiteOrigin } from './origin.ts';
import { type CacheTest, EXPECTED_FOLDER, readCacheTests, score, type Verdict } from './suite.ts';

/** Result by test id: passed, or where and how it failed. */
type Recorded = Readonly<Record<string, true | readonly [where: 'Assertion' | 'Setup', message: string]>>;

test("the conformance engine finds nginx's recorded results", needs('cacheTests', 'nginx'), async (t) => {
  const origin = await startSuiteOrigin(t);
  const port = await startProxy(t, origin.port);
  const tests = readCacheTests();
  const proxy = { address: { host: '127.0.0.1', port }, host: 'localhost' };
  // The file's own format, of the same version as the tests.
  const recorded = JSON.parse(readFileSync(join(EXPECTED_FOLDER, 'nginx.json'), 'utf8')) as Recorded;
  const isRecorded = ({ id }: CacheTest, verdict: Verdict) =>
    describeVerdict(verdict) === describeRecorded(recorded[id]);
  const verdicts = await runCacheTests(tests, proxy, origin, isRecorded);
  const differing = tests.filter(({ id }) => describeVerdict(verdicts.get(id)) !== describeRecorded(recorded[id]));
  assert.deepEqual(
    differing.map(({ id }) => `${id}: ${describeVerdict(verdicts.get(id))}: ${messageOf(verdicts.get(id))}`),
    [],
  );
  assert.deepEqual(
    score(tests, (id) => verdicts.get(id)?.kind === 'pass'),
    { required: 116, optimal: 65 },
  );
});

function describeVerdict(verdict: Verdict | undefined): string {
  if (verdict?.kind !== 'fail') return String(verdict?.kind);
  return verdict.isSetup ? 'setup' : 'fail';
}

function describeRecorded(result: Recorded[string] | undefined): string {
  if (result === undefined) return 'undefined';
  if (result === true) return 'pass';
  return result[0] === 'Setup' ? 'setup' : 'fail';
}

function messageOf(verdict: Verdict | undefined): string {
  return verdict?.kind === 'fail' ? verdict.message : '';
}

/** Starts nginx with the configuration of the recording, apart from ports and folders. */
async function startProxy(t: { after(work: () => unknown): void }, originPort: number): Promise<number> {
  const folder = temporaryFolder(t);
  chmodSync(folder, 0o755);
  for (const name of ['logs', 'tmp', 'cache']) mkdirSync(join(folder, name));
  const port = await freePort();
  const template = readFileSync(join(EXPECTED_FOLDER, 'nginx.conf'), 'utf8');
  const configuration = template
    .replaceAll('RUNDIR', folder)
    .replaceAll('9202', String(originPort))
    .replaceAll('9302', String(port))
    .replace(/listen \[::1\]:\d+;/, '')
    .replace(/user root;/, '');
  writeFileSync(join(folder, 'nginx.conf'), configuration);
  const args = ['-p', folder, '-c', join(folder, 'nginx.conf'), '-e', join(folder, 'logs', 'error.log')];
  const child = spawn(obtain('nginx'), args, { stdio: 'inherit' });
  t.after(async () => {
    child.kill('SIGTERM');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  });
  await eventually('nginx answers', async () => (await fetch(`http://127.0.0.1:${port}/`)).status === 409);
  return port;
}
