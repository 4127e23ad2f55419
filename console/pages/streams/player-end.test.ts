import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type PlayerEnd, playerEndOf } from './player-end.ts';

test('what a player says becomes one of the ends that have a text', () => {
  const rows: readonly (readonly [type: string, status: unknown, expected: PlayerEnd])[] = [
    ['NetworkError', 429, 'full'],
    ['NetworkError', 504, 'silent'],
    ['NetworkError', 401, 'refused'],
    ['NetworkError', 403, 'refused'],
    ['NetworkError', 500, 'lost'],
    ['NetworkError', -1, 'lost'],
    ['NetworkError', undefined, 'lost'],
    ['MediaError', 429, 'codec'],
  ];
  for (const [type, status, expected] of rows) assert.equal(playerEndOf(type, status), expected, `${type} ${status}`);
});
