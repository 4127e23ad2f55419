import assert from 'node:assert/strict';
import { test } from 'node:test';
import { maskKey } from './access-log.ts';

test("a viewer's key is masked, however its name is written, and nothing else is", () => {
  const rows = [
    ['/live/a.flv', '/live/a.flv'],
    ['/live/a.flv?auth_key=1-2-3-4', '/live/a.flv?auth_key=***'],
    ['/live/a.flv?x=1&auth_key=1&auth_key=2&y', '/live/a.flv?x=1&auth_key=***&auth_key=***&y'],
    ['/live/a.flv?%61uth%5Fkey=1', '/live/a.flv?auth_key=***'],
    ['/auth_key=1?my_auth_key=1&auth_keys=2&%zz=1', '/auth_key=1?my_auth_key=1&auth_keys=2&%zz=1'],
    ['/live/a.flv?auth_key', '/live/a.flv?auth_key=***'],
  ];
  for (const [target = '', masked] of rows) assert.equal(maskKey(target), masked);
});
