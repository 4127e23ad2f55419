/** Killed in the middle of 1,000 mixed fills: first a worker, then the whole service. One round; the others are in `npm run soak`. */
import { test } from 'node:test';
import { crashInRounds } from '../support/edge/crash-round.ts';

test('an edge killed by SIGKILL serves no truncated or mixed body', (t) => crashInRounds(t, 1));
