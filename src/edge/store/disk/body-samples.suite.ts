/** Bodies in files of their own, for the tests of this folder. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { BlockMemory, BodyFileWriter } from './body-file.ts';
import { DiskBody } from './disk-body.ts';
import { OpenBodies } from './open-bodies.ts';

/** Writes a body of one byte that belongs to no key. */
export function writeBody(folder: string, bodyId: string, onLost: () => void): DiskBody {
  const path = join(folder, bodyId);
  const onProblem = (error: unknown) => assert.fail(String(error));
  const writer = new BodyFileWriter({ bodyId, path, memory: new BlockMemory(10_000_000), onProblem });
  writer.add(Buffer.from('x'));
  const written = writer.finish();
  return new DiskBody({ bodyId, sizeBytes: 1, path, hash: undefined, files: new OpenBodies(), written, onLost });
}
