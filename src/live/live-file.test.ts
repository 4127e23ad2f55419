import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { needs, obtain } from '../../test/support/runner/needs.ts';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { LiveFile } from './live-file.ts';

const A = { domainId: 7, app: 'live', stream: 'a', broadcast: 'b1' };
const B = { domainId: 7, app: 'live', stream: 'b', broadcast: 'b2' };
const began = (name: typeof A, at: number) =>
  ({ ...name, kind: 'began', at, source: 'publish', address: '10.0.0.1' }) as const;
const ended = (name: typeof A, at: number) => ({ ...name, kind: 'ended', at, reason: 'unpublished' }) as const;

test('events wait in their order until they are acknowledged, and no number occurs twice', (t) => {
  const path = join(temporaryFolder(t), 'live', 'live.db');
  const file = open(path);
  file.append(began(A, 1));
  file.append(ended(A, 2));
  assert.deepEqual(file.listEvents(10), [
    { n: 1, ...began(A, 1) },
    { n: 2, ...ended(A, 2) },
  ]);
  assert.equal(file.listEvents(1).length, 1);
  const { epoch } = file;
  file.acknowledge('another', 2);
  assert.equal(file.countEvents(), 2);
  file.acknowledge(epoch, 2);
  assert.deepEqual(file.listEvents(10), []);
  file[Symbol.dispose]();
  using again = open(path);
  assert.equal(again.epoch, epoch);
  again.append(began(B, 3));
  assert.deepEqual(again.listEvents(10), [{ n: 3, ...began(B, 3) }]);
});

test('broadcasts on air when the process died have ended with their last media', (t) => {
  const path = join(temporaryFolder(t), 'live.db');
  const file = open(path);
  file.append(began(A, 1));
  file.append(began(B, 2));
  file.append(ended(A, 3));
  file.saveLastMedia([
    { broadcast: 'b1', lastMediaAt: 4 },
    { broadcast: 'b2', lastMediaAt: 5.4 },
  ]);
  file.acknowledge(file.epoch, 3);
  file[Symbol.dispose](); // as after a kill: nothing else was written
  for (let starts = 1; starts <= 2; starts++) {
    using again = open(path);
    assert.deepEqual(again.listEvents(10), [{ n: 4, ...B, kind: 'ended', reason: 'crashed', at: 5 }]);
  }
});

test('a damaged file is moved aside, and its successor counts anew', (t) => {
  const path = join(temporaryFolder(t), 'live.db');
  writeFileSync(path, 'no database at all, but long enough to be taken for one. '.repeat(20));
  const moved: string[] = [];
  using file = new LiveFile(path, { ...UNEXPECTED, onMoved: (to) => moved.push(to) });
  assert.deepEqual(moved, [`${path}.damaged`]);
  file.append(began(A, 1));
  assert.equal(file.listEvents(10)[0]?.n, 1);
});

test('memory replaces a file that cannot be opened, which gets everything once it can', (t) => {
  const folder = join(temporaryFolder(t), 'live');
  const path = join(folder, 'live.db');
  {
    using before = open(path);
    before.append(began(B, 1));
  }
  renameSync(folder, `${folder}.away`);
  writeFileSync(folder, 'no folder');
  const told: string[] = [];
  const options = { ...UNEXPECTED, onLost: () => told.push('lost'), onRestored: () => told.push('restored') };
  const file = new LiveFile(path, options);
  file.append(began(A, 2));
  file.saveLastMedia([{ broadcast: 'b1', lastMediaAt: 3 }]);
  const [first] = file.listEvents(10);
  assert.deepEqual(first, { n: 1, ...began(A, 2) });
  file.acknowledge(file.epoch, 1);
  file.append(ended(A, 4));
  file.append(began(A, 5));
  assert.deepEqual(told, ['lost']);
  rmSync(folder);
  renameSync(`${folder}.away`, folder);
  file.saveLastMedia([{ broadcast: 'b1', lastMediaAt: 6 }]);
  assert.deepEqual(told, ['lost', 'restored']);
  // What the file had before comes last.
  const events = [
    { n: 2, ...ended(A, 4) },
    { n: 3, ...began(A, 5) },
    { n: 4, ...began(B, 1) },
    { n: 5, ...B, kind: 'ended', reason: 'crashed', at: 1 },
  ];
  assert.deepEqual(file.listEvents(10), events);
  const { epoch } = file;
  file[Symbol.dispose]();
  using again = open(path);
  assert.equal(again.epoch, epoch);
  assert.deepEqual(again.listEvents(10), [...events, { n: 6, ...A, kind: 'ended', reason: 'crashed', at: 6 }]);
});

test('a disk that becomes full and has room again loses no event', needs('mounts'), async (t) => {
  const program = join(import.meta.dirname, '../../test/support/live/live-file-full.ts');
  const script = 'mount -t tmpfs -o size=1m tmpfs "$0" && exec "$1" "$2" "$0"';
  const args = ['-rm', 'sh', '-c', script, temporaryFolder(t), process.execPath, program];
  const { stdout } = await promisify(execFile)(obtain('mounts'), args, { timeout: 180_000 });
  const { told, listed, isAnotherEpoch, reopened } = JSON.parse(stdout);
  assert.deepEqual(told, ['lost', 'restored']);
  assert.equal(isAnotherEpoch, true);
  assert.deepEqual([listed, reopened], [200, 201]);
});

function unexpected(told: unknown): void {
  assert.fail(String(told));
}

const UNEXPECTED = { onMoved: unexpected, onLost: unexpected, onRestored: () => unexpected('restored') };

function open(path: string): LiveFile {
  return new LiveFile(path, UNEXPECTED);
}
