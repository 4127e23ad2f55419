/** 500 viewers on one slow miss of 1 GiB; the first 6 MiB of it, more in `npm run soak`. */
import { test } from 'node:test';
import { crowdOneMiss } from '../support/edge/crowd.ts';

test('500 viewers of one slow, large miss share a fetch, and use at most a window each', (t) =>
  crowdOneMiss(t, 6 * 2 ** 20));
