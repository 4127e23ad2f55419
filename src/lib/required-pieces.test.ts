import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { requiredPieces } from './required-pieces.ts';

describe('required pieces of an expression', () => {
  const rows: readonly (readonly [expression: string, pieces: readonly string[]])[] = [
    ['^/api/v[0-9]+/', ['/api/v']],
    ['^https?://[^/]+/shop', ['/shop']],
    ['(news|sport)/[0-9]+', ['news', 'sport']],
    ['(news|[a-z]+)', []],
    ['(img)?', []],
    ['(img){0,2}', []],
    ['(img){2}', ['img']],
    ['(?i)img', []],
    ['[0-9]+$', []],
    ['', []],
    [Array.from({ length: 21 }, (_, index) => `${String.fromCharCode(97 + index)}/x`).join('|'), []],
  ];
  for (const [expression, pieces] of rows) {
    test(`every match of ${expression.slice(0, 30)} contains ${pieces.join(' or ') || 'nothing certain'}`, () => {
      assert.deepEqual(requiredPieces(expression), pieces);
    });
  }
});
