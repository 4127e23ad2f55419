import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createCompileTools, createPlainTools } from './compile-tools.ts';

test('patterns that are written alike are one', () => {
  const { compilePattern } = createCompileTools();
  assert.equal(compilePattern('^/a'), compilePattern('^/a'));
  assert.notEqual(compilePattern('^/a'), compilePattern('^/b'));
  assert.notEqual(createPlainTools().compilePattern('^/a'), createPlainTools().compilePattern('^/a'));
});
