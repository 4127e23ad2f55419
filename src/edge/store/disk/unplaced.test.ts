import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { eventually } from '../../../../test/support/eventually.ts';
import { temporaryFolder } from '../../../../test/support/temporary.ts';
import { writeBody } from './body-samples.suite.ts';
import { Unplaced } from './unplaced.ts';

test('a body without a key is removed after a while, any other stays', async (t) => {
  const folder = temporaryFolder(t);
  const unplaced = new Unplaced();
  const [lost, placed] = ['1111111111111111', '2222222222222222'].map((id) =>
    unplaced.add(writeBody(folder, id, assert.fail), 0),
  );
  assert.ok(lost !== undefined && placed !== undefined);
  await Promise.all([lost.written, placed.written]);
  await placed.moveTo(placed.path, '0000000000000000', async () => undefined);
  unplaced.sweep(299_000);
  assert.ok(existsSync(lost.path));
  unplaced.sweep(301_000);
  await eventually('removed', () => !existsSync(lost.path));
  assert.ok(existsSync(placed.path));
});
