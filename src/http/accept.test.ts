import assert from 'node:assert/strict';
import { test } from 'node:test';
import { typeWeight } from './accept.ts';

const WEIGHTS: readonly (readonly [accept: string | undefined, weight: number])[] = [
  [undefined, 1],
  ['text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8', 1],
  ['*/*', 1],
  ['text/*;q=0.5, */*;q=0.1', 0.5],
  ['TEXT/HTML;q=0.3', 0.3],
  ['text/html;level=1', 1],
  ['text/html;q=0, */*', 0],
  ['application/json', 0],
  ['text/plain', 0],
  ['', 0],
];

test('the most specific range of Accept decides the weight of a type', () => {
  for (const [accept, weight] of WEIGHTS) assert.equal(typeWeight(accept, 'text/html'), weight, String(accept));
});
