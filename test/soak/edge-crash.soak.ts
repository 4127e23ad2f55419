/** Twenty rounds of kill -9 in the middle of 1,000 mixed fills. */
import { test } from 'node:test';
import { crashInRounds } from '../support/edge/crash-round.ts';

test('an edge killed by SIGKILL twenty times over serves no truncated or mixed body', (t) => crashInRounds(t, 20));
