import assert from 'node:assert/strict';
import { test } from 'node:test';
import { noCounters } from './counters.ts';
import { addLiveSums, NO_LIVE_SUMS, readLiveAnswer, writeLiveAnswer } from './live-answer.ts';
import { RECENT_STEPS } from './recent-counts.ts';

const sums = Array.from({ length: RECENT_STEPS }, (_, n) => ({ ...noCounters(), requests: n, status5xx: 1 }));

test('an answer is read as it was written', () => {
  const read = readLiveAnswer(JSON.parse(JSON.stringify(writeLiveAnswer({ since: 7, sums }))));
  assert.equal(read?.since, 7);
  assert.deepEqual(read?.sums[3], { ...NO_LIVE_SUMS, requests: 3, status5xx: 1 });
  assert.deepEqual(addLiveSums(read?.sums[1] ?? NO_LIVE_SUMS, read?.sums[2] ?? NO_LIVE_SUMS), {
    ...NO_LIVE_SUMS,
    requests: 3,
    status5xx: 2,
  });
});

test('an answer of another shape is refused', () => {
  const good = { since: 7, steps: sums.map(() => [1, 1, 1, 1, 1]) };
  assert.ok(readLiveAnswer(good));
  for (const wrong of [
    null,
    'x',
    { ...good, since: -1 },
    { ...good, steps: good.steps.slice(1) },
    { ...good, steps: good.steps.with(4, [1, 1, 1, 1]) },
    { ...good, steps: good.steps.with(4, [1, 1, 1, 1, 1.5]) },
    { ...good, steps: good.steps.with(4, [1, 1, 1, 1, 2 ** 60]) },
  ])
    assert.equal(readLiveAnswer(wrong), undefined, JSON.stringify(wrong));
});
