/** What writers that were killed had not appended, as those that take their places tell: real processes, really killed. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { openTakenCount } from './taken-count.ts';

const PROGRAM = join(import.meta.dirname, '../../test/support/logs/killed-writer.ts');

interface Told {
  /** What its warnings say of requests that are lost: a number, or 'bound'. */
  readonly warnings: readonly (number | 'bound')[];
  /** Lost requests as the metric counts them. */
  readonly lost: number;
}

function runWriter(directory: string, ...steps: readonly string[]): Told {
  const { stdout, signal } = spawnSync(process.execPath, [PROGRAM, directory, ...steps], { encoding: 'utf8' });
  assert.equal(signal, 'SIGKILL', stdout);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line));
  const warnings = lines
    .filter(({ msg }) => /was killed/.test(String(msg)))
    .map(({ lostRequests, msg }) => {
      if (lostRequests === undefined) assert.match(String(msg), /: requests of its last 500 ms may be missing/);
      else assert.match(String(msg), new RegExp(`: ${rangeFrom(Number(lostRequests))} requests are missing`));
      return lostRequests === undefined ? 'bound' : Number(lostRequests);
    });
  return { warnings, lost: Number(lines.at(-1)?.['lost']) };
}

function rangeFrom(lost: number): string {
  return lost === 0 ? 'at most 63' : `${lost} to ${lost + 63}`;
}

test('a killed writer has lost as many requests as its files lack, and each kill adds to the number', (t) => {
  const folder = temporaryFolder(t);
  assert.deepEqual(runWriter(folder, '40', 'flush', '25', 'tell'), { warnings: [], lost: 0 });
  // Told before it ends; lines of the file before, and those that the queue did not take, are not lost.
  const second = runWriter(folder, 'flush', '30', 'flush', '200', 'flush', 'hour', '50', 'flush', '20', 'tell');
  assert.deepEqual(second, { warnings: [25], lost: 25 });
  // Killed before it had a file.
  assert.deepEqual(runWriter(folder, 'flush', '5', 'tell'), { warnings: [20], lost: 45 });
  assert.deepEqual(runWriter(folder, 'flush'), { warnings: [5], lost: 50 });
  assert.deepEqual(runWriter(folder, 'flush', '7', 'flush', 'close'), { warnings: [], lost: 50 });
  assert.deepEqual(runWriter(folder, 'flush', '70'), { warnings: [], lost: 0 });
  // Of 70 at once 64 were told.
  assert.deepEqual(runWriter(folder, 'flush', '64', 'flush'), { warnings: [64], lost: 64 });
  // All that were told are in the file, which nobody ended.
  assert.deepEqual(runWriter(folder, 'flush').warnings, [0]);
});

test('a process that could not read the remains leaves them to the next', (t) => {
  const folder = temporaryFolder(t);
  runWriter(folder, '40', 'flush', '25', 'tell');
  runWriter(folder, '3', 'tell');
  assert.deepEqual(runWriter(folder, 'flush').warnings, [25]);
});

test('the loss is a bound if the number, or the file that it counts, is missing', (t) => {
  const folder = temporaryFolder(t);
  runWriter(folder, '40', 'flush', '25', 'tell');
  rmSync(join(folder, 'taken'));
  assert.deepEqual(runWriter(folder, 'flush', '2', 'flush').warnings, ['bound']);
  const logs = join(folder, 'logs');
  for (const file of readdirSync(logs)) if (file.endsWith('.log')) rmSync(join(logs, file));
  assert.deepEqual(runWriter(folder, 'flush'), { warnings: ['bound'], lost: 0 });
});

test("a file that is not this user's alone is not written to", (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, 'taken');
  writeFileSync(join(folder, 'other'), 'theirs');
  symlinkSync(join(folder, 'other'), path);
  assert.equal(openTakenCount(path), undefined);
  rmSync(path);
  writeFileSync(path, '');
  chmodSync(path, 0o666);
  assert.equal(openTakenCount(path), undefined);
  assert.equal(openTakenCount(join(folder, 'no', 'such', 'folder')), undefined);
  rmSync(path);
  writeFileSync(path, 'too short', { mode: 0o600 });
  const taken = openTakenCount(path);
  assert.equal(taken?.left, undefined);
  taken?.[Symbol.dispose]();
  assert.ok(!existsSync(path));
});
