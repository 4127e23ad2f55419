/** Many mutated RTMP sessions; `npm test` runs a sample of them. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { fuzzSessions } from '../support/live/rtmp-fuzz.ts';

test('100,000 mutated sessions end only themselves, and use bounded memory', async (t) => {
  const seed = Math.floor(Math.random() * 0x7fff_ffff); // a failure names it
  const { ends, published, messages, peakBytes } = await fuzzSessions(100_000, seed);
  t.diagnostic(
    JSON.stringify({ seed, ends: [...ends], published, messages, peakMiB: Math.round(peakBytes / 2 ** 20) }),
  );
  assert.ok(published > 10_000);
  assert.ok(peakBytes < 256 * 1024 * 1024, `${peakBytes} bytes`);
});
