import assert from 'node:assert/strict';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { filesToRun } from './files-to-run.ts';
import { shareProcesses } from './share-processes.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

test('every file runs once, with neighbors of its room', () => {
  const { files } = filesToRun([], ROOT);
  const shared = shareProcesses(files, ROOT);
  assert.deepEqual(shared.flat().toSorted(), files.toSorted());
  assert.ok(shared.length < files.length / 3);
  const roomOf = (file: string) => file.split('/', 2).join('/');
  for (const together of shared) assert.equal(new Set(together.map(roomOf)).size, 1, together.join(' '));
});

test('files that measure their process run alone, those that start services with few others', () => {
  const services = ['probes', 'restart', 'crash', 'watch'].map((name) => `test/process/${name}.test.ts`);
  const [alone, together] = ['test/edge/http2-floods.test.ts', ['src/lib/lru.test.ts', 'src/lib/cidr.test.ts']];
  assert.deepEqual(shareProcesses([...together, alone, ...services], ROOT), [
    services.slice(0, 2),
    services.slice(2),
    [alone],
    together,
  ]);
});
