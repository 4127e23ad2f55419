import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createLagBudget } from './client-lag.ts';

test('clients share the budget, and a client that catches up or closes returns its part', () => {
  const budget = createLagBudget(100);
  const [a, b] = [budget.open(), budget.open()];
  assert.equal(a.note(60), true);
  assert.equal(b.note(41), false);
  assert.equal(a.note(10), true);
  assert.equal(b.note(90), true);
  assert.equal(a.note(11), false);
  b.close();
  assert.equal(a.note(100), true);
});
