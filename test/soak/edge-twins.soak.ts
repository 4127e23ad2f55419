/** Half an hour of visits to edges with and without shortcuts, other ones each time. */
import { test } from 'node:test';
import { compareTwins } from '../support/edge/twins/compare-twins.ts';
import { needs } from '../support/runner/needs.ts';

const SOAK_MS = 1_800_000;

test('an answer is the same whether it was kept ready or not', needs('openssl'), async (t) => {
  for (const until = performance.now() + SOAK_MS; performance.now() < until; ) {
    const seed = Math.floor(Math.random() * 0x7fff_ffff); // a failure names it
    t.diagnostic(JSON.stringify(await compareTwins(t, { runs: 40, steps: 40, seed, shrinks: true })));
  }
});
