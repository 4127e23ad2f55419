import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzResponses } from '../support/edge/response-fuzz.ts';

test('what the reader of responses takes, node:http understands in the same way, however the bytes are split', async () => {
  const { wholes, bodies, chunked, atEnd, refused, cut } = await fuzzResponses(6_000, 1);
  const counts = JSON.stringify({ wholes, bodies, chunked, atEnd, refused, cut });
  assert.ok(wholes > 1_000 && bodies > 500 && chunked > 100 && atEnd > 100 && refused > 1_000 && cut > 200, counts);
});
