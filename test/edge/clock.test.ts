/** A clock that is set back, as time servers and virtual machines do it. */
import { test } from 'node:test';
import { FRESH, reply } from '../support/edge/origin.ts';
import { act, hit, miss, pass, scenario } from '../support/edge/scenario.ts';

const HOUR_MS = 3_600_000;

test('an object with a storing time in the future is fetched anew, and is a hit again', (t) =>
  scenario(t, [
    pass(HOUR_MS),
    miss('GET /', reply('1', FRESH), '1'),
    pass(-HOUR_MS),
    miss('GET /', reply('2', FRESH), '2'),
    hit('GET /', '2'),
    pass(61_000),
    miss('GET /', reply('3', FRESH), '3'),
  ]));

test('a purge covers objects with a storing time in the future', (t) =>
  scenario(t, [
    pass(HOUR_MS),
    miss('GET /', reply('1', { ...FRESH, etag: '"1"' })),
    pass(-HOUR_MS),
    act(({ edge }) => edge.purge({ kind: 'site', target: '' })),
    pass(1), // what is fetched in the millisecond of the purge is not stored
    miss('GET /', reply('2', { ...FRESH, etag: '"1"' }), '2', { 'if-none-match': undefined }),
  ]));

test('a clock step of less than a second is not noticed', (t) =>
  scenario(t, [miss('GET /', reply('x', FRESH)), pass(-500), hit('GET /')]));
