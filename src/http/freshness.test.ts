import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseCacheControl } from './cache-control.ts';
import { at, NOW, options, store } from './examples.suite.ts';
import { currentAge, freshnessLifetime, freshUntil, initialAge, isFresh } from './freshness.ts';
import type { CacheOptions } from './options.ts';

interface Row {
  readonly cc?: string;
  readonly expires?: string[];
  readonly status?: number;
  readonly modified?: number;
  readonly options?: Partial<CacheOptions>;
  readonly gives: [number, string];
}

const FILLS = { hasPolicies: true, policy: { seconds: 60, overrides: false } };
const OVERRIDES = { hasPolicies: true, policy: { seconds: 60, overrides: true } };

describe('freshness lifetime', () => {
  const rows: Row[] = [
    { cc: 's-maxage=1, max-age=2', expires: [at(3)], gives: [1, 'sMaxage'] },
    { cc: 'max-age=2', expires: [at(3)], gives: [2, 'maxAge'] },
    { cc: 'max-age=0, s-maxage=3600', expires: [at(-3)], gives: [3600, 'sMaxage'] },
    { cc: 'max-age=oops', expires: [at(3)], gives: [0, 'maxAge'] },
    { expires: [at(3)], gives: [3, 'expires'] },
    { expires: [at(-3)], gives: [0, 'expires'] },
    { expires: [at(0)], gives: [0, 'expires'] },
    { expires: ['0'], gives: [0, 'expires'] },
    { expires: [at(3), at(3)], gives: [0, 'expires'] },
    { gives: [0, 'none'] },
    ...[200, 203, 206, 300, 301, 308, 410].flatMap((status): Row[] => [
      { status, options: FILLS, gives: [60, 'policy'] },
      { status, cc: 'max-age=2', modified: -1000, options: OVERRIDES, gives: [60, 'policy'] },
    ]),
    { cc: 'max-age=2', options: FILLS, gives: [2, 'maxAge'] },
    { modified: -1000, options: FILLS, gives: [60, 'policy'] },
    { status: 404, options: { ...OVERRIDES, defaultLifetimes: new Map([[404, 10]]) }, gives: [10, 'statusDefault'] },
    { status: 302, cc: 'max-age=2', options: OVERRIDES, gives: [2, 'maxAge'] },
    ...[{ hasPolicies: true }, FILLS, OVERRIDES].flatMap((options) =>
      [302, 303, 307, 403, 500, 503, 599].map((status): Row => {
        return { status, cc: 'public', modified: -1000, options, gives: [0, 'none'] };
      }),
    ),
    { status: 302, cc: 'public', modified: -1000, gives: [100, 'heuristic'] },
    { cc: 'public', modified: -1000, options: { hasPolicies: true }, gives: [100, 'heuristic'] },
    { modified: -1000, gives: [100, 'heuristic'] },
    { modified: -1e6, gives: [3600, 'heuristic'] },
    { modified: -1000, options: { heuristicCapSeconds: 7 }, gives: [7, 'heuristic'] },
    { modified: -1000, options: { heuristicCapSeconds: 0 }, gives: [0, 'heuristic'] },
    { modified: 10, gives: [0, 'none'] },
    { modified: 0, gives: [0, 'none'] },
    ...[203, 204, 206, 300, 301, 308, 404, 405, 410, 414, 501].map((status): Row => {
      return { status, modified: -1000, gives: [100, 'heuristic'] };
    }),
    ...[201, 202, 302, 303, 307, 403, 500, 502, 503, 504, 599].map((status): Row => {
      return { status, modified: -1000, gives: [0, 'none'] };
    }),
    { status: 599, cc: 'public', modified: -1000, gives: [100, 'heuristic'] },
    { status: 404, options: { defaultLifetimes: new Map([[404, 10]]) }, gives: [10, 'statusDefault'] },
    { status: 404, cc: 'max-age=3', options: { defaultLifetimes: new Map([[404, 10]]) }, gives: [3, 'maxAge'] },
    { status: 503, options: { defaultLifetimes: new Map([[503, 10]]) }, gives: [0, 'none'] },
  ];
  for (const row of rows) {
    test(JSON.stringify(row), () => {
      const { lifetimeMs, source } = freshnessLifetime(
        {
          status: row.status ?? 200,
          directives: parseCacheControl(row.cc === undefined ? [] : [row.cc]),
          expires: row.expires ?? [],
          dateAt: NOW,
          lastModifiedAt: row.modified === undefined ? undefined : NOW + row.modified * 1000,
        },
        NOW,
        options(row.options),
      );
      assert.deepEqual([lifetimeMs / 1000, source], row.gives);
    });
  }
});

describe('age', () => {
  test('initial age is the larger of those that Date and Age give', () => {
    const rows: [ageMs: number, dateAt: number, delayMs: number, expected: number][] = [
      [0, 0, 0, 0],
      [0, -999, 0, 0],
      [0, -1000, 0, 1000],
      [0, -1999, 0, 1000],
      [5000, -1000, 0, 5000],
      [5000, -9000, 0, 9000],
      [5000, 0, 700, 5700],
      [0, 60_000, 0, 0],
      [0, 0, -5000, 0],
    ];
    for (const [ageMs, dateAt, delayMs, expected] of rows) {
      const exchange = { requestAt: NOW - delayMs, responseAt: NOW };
      assert.equal(initialAge({ ageMs, dateAt: NOW + dateAt }, exchange), expected);
    }
  });

  test('a response is fresh until its lifetime is used up, to the millisecond', () => {
    const stored = store(['Cache-Control', 'max-age=10', 'Age', '3']);
    assert.equal(freshUntil(stored), NOW + 7000);
    assert.equal(isFresh(stored, NOW + 6999), true);
    assert.equal(isFresh(stored, NOW + 7000), false);
  });

  test('a clock that is set back does not make a response younger', () => {
    assert.equal(currentAge(store(['Cache-Control', 'max-age=10', 'Age', '3']), NOW - 60_000), 3000);
  });

  test('law: the age never falls while time passes, and a response is fresh exactly until freshUntil', () => {
    const stored = fc
      .record({ age: fc.nat(100), date: fc.integer({ min: -100, max: 100 }), maxAge: fc.nat(200), delay: fc.nat(5000) })
      .map(({ age, date, maxAge, delay }) =>
        store(['Cache-Control', `max-age=${maxAge}`, 'ETag', '"a"', 'Age', String(age), 'Date', at(date)], {
          requestAt: NOW - delay,
          responseAt: NOW,
        }),
      );
    const span = fc.integer({ min: -1000, max: 300_000 });
    fc.assert(
      fc.property(stored, span, fc.nat(100_000), (each, wait, more) => {
        const [earlier, later] = [NOW + wait, NOW + wait + more];
        assert.ok(currentAge(each, earlier) <= currentAge(each, later));
        if (later >= NOW) assert.equal(isFresh(each, later), later < freshUntil(each));
      }),
    );
  });
});
