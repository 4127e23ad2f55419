/** 500 viewers on one slow miss of 1 GiB: the first 64 MiB. */
import { test } from 'node:test';
import { crowdOneMiss } from '../support/edge/crowd.ts';

test('500 viewers of one slow, large miss use at most a window each, however much has arrived', (t) =>
  crowdOneMiss(t, 64 * 2 ** 20));
