import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCompileTools, createStrictTools } from './compile-tools.ts';

test('a pattern with too large an automaton is refused when settings are made, and matches nothing at the edge', () => {
  const pattern = 'a.{100}b';
  const text = `a${'x'.repeat(100)}b`;
  assert.equal(createStrictTools().readPattern(pattern).kind, 'invalid');
  const tools = createCompileTools();
  assert.equal(tools.readPattern(pattern).kind, 'pattern');
  for (let i = 0; i < 2; i++) assert.equal(tools.matchesPattern(pattern, text), false);
  for (let i = 0; i < 2; i++) assert.equal(tools.matchesPattern('x{50}b$', text), true);
});
