/** Twenty rounds of kill -9 in the middle of 1,000 mixed fills. */
import { test } from 'node:test';
import { crashInRounds } from '../support/crash-round.ts';

test('after kill -9, twenty times over, no body is served that is truncated or mixed', (t) => crashInRounds(t, 20));
