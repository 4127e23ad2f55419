/** Killed in the middle of 1,000 mixed fills: first a worker, then the whole service. One round; the others are in `npm run soak`. */
import { test } from 'node:test';
import { crashInRounds } from '../support/crash-round.ts';

test('after kill -9 no body is served that is truncated or mixed', (t) => crashInRounds(t, 1));
