import assert from 'node:assert/strict';
import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { temporaryFolder } from '../../test/support/temporary.ts';
import { openSound } from './sqlite-file.ts';

test('a file is closed to other users, and so is one that an earlier release left open', (t) => {
  const folder = temporaryFolder(t);
  const file = join(folder, 'a.db');
  const open = () =>
    openSound(
      file,
      (database) =>
        database.exec('pragma journal_mode = wal; create table if not exists a (b); insert into a values (1)'),
      assert.fail,
    );
  const openModes = () => readdirSync(folder).filter((name) => (statSync(join(folder, name)).mode & 0o077) !== 0);
  const first = open();
  assert.deepEqual(openModes(), []);
  first.close();
  chmodSync(file, 0o644);
  using _second = open();
  assert.deepEqual(openModes(), []);
});
