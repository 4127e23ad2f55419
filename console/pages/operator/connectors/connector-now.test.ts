import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sinceOf } from './connector-now.ts';

const SESSION = { control: '', state: 'bound', rate: 0, in_flight: 0 } as const;

test('a connector sends since the first of its sessions does, and not while none does', () => {
  assert.equal(sinceOf([], 'sends_since'), 0);
  const sessions = [
    { ...SESSION, sends_since: 0, receives_since: 7 },
    { ...SESSION, sends_since: 9, receives_since: 0 },
    { ...SESSION, sends_since: 5, receives_since: 0 },
  ];
  assert.equal(sinceOf(sessions, 'sends_since'), 5);
  assert.equal(sinceOf(sessions, 'receives_since'), 7);
});
