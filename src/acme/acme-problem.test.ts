import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AcmeProblem, parseProblem, readRetryAfter } from './acme-problem.ts';

const NOW = Date.parse('2026-01-31T12:00:00Z');
const DAY_SECONDS = 24 * 3600;

test('Retry-After is seconds or a date, and bounded', () => {
  const rows: [string | undefined, string | undefined, number | undefined][] = [
    ['120', undefined, 120],
    [' 0 ', undefined, 0],
    ['99999999999999999999', undefined, 30 * DAY_SECONDS],
    ['Sat, 31 Jan 2026 12:02:00 GMT', undefined, 120],
    ['Saturday, 31-Jan-26 12:02:00 GMT', undefined, 120],
    ['Sat Jan 31 12:02:00 2026', undefined, 120],
    ['Sat, 31 Jan 2026 11:00:00 GMT', undefined, 0],
    ['Fri, 31 Dec 9999 23:59:59 GMT', undefined, 30 * DAY_SECONDS],
    // The authority's clock is an hour ahead.
    ['Sat, 31 Jan 2026 13:02:00 GMT', 'Sat, 31 Jan 2026 13:00:00 GMT', 120],
    ['Sat, 31 Jan 2026 12:02:00 GMT', 'yesterday', 120],
    ['2026-01-31T12:02:00Z', undefined, undefined],
    ['-1', undefined, undefined],
    ['1.5', undefined, undefined],
    ['', undefined, undefined],
    [undefined, undefined, undefined],
  ];
  for (const [text, date, seconds] of rows) {
    const header = (name: string) => (name === 'retry-after' ? text : name === 'date' ? date : undefined);
    assert.equal(readRetryAfter({ header }, NOW), seconds && seconds * 1000, `${text} ${date}`);
  }
});

test('a limit that names a date holds until then', () => {
  const header = (name: string) => (name === 'retry-after' ? 'Sat, 31 Jan 2026 14:00:00 GMT' : undefined);
  const problem = parseProblem({ status: 429, header, body: '{"detail":"too many"}' }, NOW);
  assert.ok(problem instanceof AcmeProblem);
  assert.deepEqual([problem.type, problem.message, problem.retryAfterMs], ['rateLimited', 'too many', 7_200_000]);
});
