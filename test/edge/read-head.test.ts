import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzHeads } from '../support/edge/head-fuzz.ts';

test('a head that the reader of heads accepts is understood by node:http in the same way', async () => {
  const { wholes, plain, lasts, errors } = await fuzzHeads(8_000, 1);
  assert.ok(wholes > 3_000 && plain > 1_500 && lasts > 150 && errors > 3_000, 'the bytes are of all kinds');
});
