import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { openLiveFile } from './live-file.ts';

const A = { domainId: 7, app: 'live', stream: 'a', broadcast: 'b1' };
const B = { domainId: 7, app: 'live', stream: 'b', broadcast: 'b2' };
const began = (name: typeof A, at: number) =>
  ({ ...name, kind: 'began', at, source: 'publish', address: '10.0.0.1' }) as const;
const ended = (name: typeof A, at: number) => ({ ...name, kind: 'ended', at, reason: 'unpublished' }) as const;

test('events wait in their order until they are acknowledged, and no number comes twice', (t) => {
  const path = join(temporaryFolder(t), 'live', 'live.db');
  const file = openLiveFile(path, unexpected);
  file.append(began(A, 1));
  file.append(ended(A, 2));
  assert.deepEqual(file.listEvents(10), [
    { n: 1, ...began(A, 1) },
    { n: 2, ...ended(A, 2) },
  ]);
  assert.equal(file.listEvents(1).length, 1);
  file.acknowledge(2);
  assert.deepEqual(file.listEvents(10), []);
  file[Symbol.dispose]();
  using again = openLiveFile(path, unexpected);
  assert.equal(again.epoch, file.epoch);
  again.append(began(B, 3));
  assert.deepEqual(again.listEvents(10), [{ n: 3, ...began(B, 3) }]);
});

test('what was on air when the process died has ended with its last media', (t) => {
  const path = join(temporaryFolder(t), 'live.db');
  const file = openLiveFile(path, unexpected);
  file.append(began(A, 1));
  file.append(began(B, 2));
  file.append(ended(A, 3));
  file.saveLastMedia([
    { broadcast: 'b1', lastMediaAt: 4 },
    { broadcast: 'b2', lastMediaAt: 5.4 },
  ]);
  file.acknowledge(3);
  file[Symbol.dispose](); // as after a kill: nothing else was written
  for (let starts = 1; starts <= 2; starts++) {
    using again = openLiveFile(path, unexpected);
    assert.deepEqual(again.listEvents(10), [{ n: 4, ...B, kind: 'ended', reason: 'crashed', at: 5 }]);
  }
});

test('a damaged file is moved aside, and its successor counts anew', (t) => {
  const path = join(temporaryFolder(t), 'live.db');
  writeFileSync(path, 'no database at all, but long enough to be taken for one. '.repeat(20));
  const moved: string[] = [];
  using file = openLiveFile(path, (to) => moved.push(to));
  assert.deepEqual(moved, [`${path}.damaged`]);
  file.append(began(A, 1));
  assert.equal(file.listEvents(10)[0]?.n, 1);
});

function unexpected(to: string): void {
  assert.fail(`moved to ${to}`);
}
