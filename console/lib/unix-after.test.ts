import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unixAfter } from './unix-after.ts';

test('a time in the future is a whole second, as operations take it', () => {
  assert.equal(unixAfter(3600, 1_769_832_000_999), 1_769_835_600);
});
