import assert from 'node:assert/strict';
import { test } from 'node:test';
import { tokenState } from './token-state.ts';

const TOKEN = { revoked_at: 0, expires_at: 100, used: 0, uses: 1 };

test('a token is good until it is used up, expired or revoked', () => {
  assert.equal(tokenState(TOKEN, 99_999), 'open');
  assert.equal(tokenState(TOKEN, 100_000), 'expired');
  assert.equal(tokenState({ ...TOKEN, used: 1 }, 200_000), 'used');
  assert.equal(tokenState({ ...TOKEN, used: 1, uses: 2 }, 0), 'open');
  assert.equal(tokenState({ ...TOKEN, used: 1, revoked_at: 5 }, 0), 'revoked');
});
