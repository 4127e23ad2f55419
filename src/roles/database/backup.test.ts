import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOldBackups } from './backup.ts';

test('the newest backups are kept, and files with other names are never removed', () => {
  const day = (n: number) => `causeway-202611${String(n).padStart(2, '0')}T030000Z.ndjson`;
  const others = ['keyring', 'causeway-20261101T030000Z.ndjson.zst', `${day(1)}.0a1b.part`, 'causeway-of-mine.ndjson'];
  const names = [day(3), ...others, day(1), day(2), day(4)];
  assert.deepEqual(findOldBackups(names, 2), [day(2), day(1)]);
  assert.deepEqual(findOldBackups(names, 4), []);
  assert.deepEqual(findOldBackups([], 1), []);
});
