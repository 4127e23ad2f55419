import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/temporary.ts';
import { BlockMemory, BodyFileWriter } from './body-file.ts';
import { DiskBody } from './disk-body.ts';
import { OpenBodies } from './open-bodies.ts';
import { Unplaced } from './unplaced.ts';

function writeBody(folder: string, bodyId: string): DiskBody {
  const path = join(folder, bodyId);
  const onProblem = (error: unknown) => assert.fail(String(error));
  const writer = new BodyFileWriter({ bodyId, path, memory: new BlockMemory(10_000_000), onProblem });
  writer.add(Buffer.from('x'));
  const onLost = () => undefined;
  const written = writer.finish();
  return new DiskBody({ bodyId, sizeBytes: 1, path, hash: undefined, files: new OpenBodies(), written, onLost });
}

test('a body that comes to belong to no key is removed after a while, any other stays', async (t) => {
  const folder = temporaryFolder(t);
  const unplaced = new Unplaced();
  const [lost, placed] = ['1111111111111111', '2222222222222222'].map((id) => unplaced.add(writeBody(folder, id), 0));
  assert.ok(lost !== undefined && placed !== undefined);
  await Promise.all([lost.written, placed.written]);
  placed.moveTo(placed.path, '0000000000000000');
  unplaced.sweep(299_000);
  assert.ok(existsSync(lost.path));
  unplaced.sweep(301_000);
  await eventually('removed', () => !existsSync(lost.path));
  assert.ok(existsSync(placed.path));
});
