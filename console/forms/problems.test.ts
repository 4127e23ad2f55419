import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OPERATIONS } from '#contract/operations.ts';
import { problemsOf } from './problems.ts';

const { request } = OPERATIONS['domain.add'];

test('a form that the contract accepts has no problems', () => {
  assert.deepEqual(problemsOf(request, { domain: 'www.example.com', cdn_type: '1', data: ['192.0.2.1'] }, 'en'), {});
});

test('each field says what it expected and what it found, in the language of the person', () => {
  const problems = problemsOf(request, { domain: '', cdn_type: '7', data: ['x'.repeat(400)] }, 'en');
  assert.deepEqual(Object.keys(problems).sort(), ['cdn_type', 'data', 'domain']);
  assert.match(problems['cdn_type'] ?? '', /^Expected 1 \(static\).*; found/);
  assert.match(problems['data'] ?? '', /^Expected host, host:port/);
  assert.match(problemsOf(request, { domain: 'a' }, 'zh-CN')['cdn_type'] ?? '', /^必填：1（静态）/);
});
