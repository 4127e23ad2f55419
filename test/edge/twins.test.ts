/** Edges with and without shortcuts, and one where node:http reads, are asked the same and say the same; more of it in `npm run soak`. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { compareTwins } from '../support/edge/twins/compare-twins.ts';
import { needs } from '../support/runner/needs.ts';

test(
  'an answer is the same whether it was kept ready or not, by every reader of requests',
  needs('openssl'),
  async (t) => {
    const { requests, prepared } = await compareTwins(t, { runs: 12, steps: 16, seed: 5 });
    t.diagnostic(`${requests} requests, ${prepared} ready`);
    assert.ok(prepared > requests / 10, `${prepared} of ${requests}`);
  },
);
