import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differencesOf } from './differences.ts';

test('a difference has both sides as texts, without secrets', () => {
  const before = { b: 1, key: { changed: true } };
  const after = { b: ['x', 'y'], a: 'new', key: { changed: true } };
  assert.deepEqual(differencesOf(before, after, { secret: 'hidden' }), [
    { id: 'a', before: '—', after: 'new' },
    { id: 'b', before: '1', after: 'x\ny' },
    { id: 'key', before: 'hidden', after: 'hidden' },
  ]);
  assert.deepEqual(differencesOf({}, {}, { secret: '' }), []);
});
