import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPatterns } from './patterns.ts';

test('patterns that are written alike are one', () => {
  const [compilePattern, another] = [createPatterns(), createPatterns()];
  assert.equal(compilePattern('^/a'), compilePattern('^/a'));
  assert.notEqual(compilePattern('^/a'), compilePattern('^/b'));
  assert.notEqual(compilePattern('^/a'), another('^/a'));
});
