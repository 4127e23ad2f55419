import assert from 'node:assert/strict';
import { test } from 'node:test';
import { expectationOf } from './expect.ts';

test('the expectation of a request is read', () => {
  for (const [lines, expected] of [
    [[], 'none'],
    [[''], 'none'],
    [[' ,'], 'none'],
    [['100-continue'], 'continue'],
    [['100-Continue'], 'continue'],
    [['100-continue,'], 'continue'],
    [[', 100-continue'], 'continue'],
    [['100-continue', '100-continue'], 'continue'],
    [['100-continue, 100-continue'], 'continue'],
    [['x'], 'unknown'],
    [['100-continue, x'], 'unknown'],
    [['x, 100-continue'], 'unknown'],
    [['100-continue', 'x'], 'unknown'],
    [['foo-100-continue'], 'unknown'],
    [['"100-continue"'], 'unknown'],
    [['100-continue;a=b'], 'unknown'],
    [['100 continue'], 'unknown'],
  ] as const) {
    const headers = lines.flatMap((line) => ['Expect', line]);
    assert.equal(expectationOf(headers, '1.1'), expected, lines.join('|'));
    assert.equal(expectationOf(headers, '2.0'), expected, lines.join('|'));
    assert.equal(expectationOf(headers, '1.0'), 'none', lines.join('|'));
  }
});
