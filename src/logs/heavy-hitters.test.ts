import assert from 'node:assert/strict';
import { test } from 'node:test';
import { HeavyHitters } from './heavy-hitters.ts';

const COUNTERS = 50;

/** The same numbers each time. */
function createRandom(): () => number {
  let state = 1;
  return () => {
    state = (state * 48_271) % 0x7fffffff;
    return state / 0x7fffffff;
  };
}

/** What a stream with a few frequent and many rare values gives: by their names, the true counts and those that were found. */
function count(length: number, nameOf: (n: number, random: () => number) => string) {
  const random = createRandom();
  const hitters = new HeavyHitters(COUNTERS);
  const truth = new Map<string, number>();
  for (let n = 0; n < length; n++) {
    const value = nameOf(n, random);
    truth.set(value, (truth.get(value) ?? 0) + 1);
    hitters.add(value, 10);
  }
  return { truth, found: hitters.top(COUNTERS) };
}

const STREAMS: Readonly<Record<string, (n: number, random: () => number) => string>> = {
  'few frequent, many rare': (_, random) => `/${Math.floor(1 / (random() + 1e-4))}`,
  'all different': (n) => `/${n}`,
  'all the same': () => '/',
  'frequent ones that come late': (n, random) => (n > 8_000 ? `/late/${n % 3}` : `/${Math.floor(random() * 5_000)}`),
};

for (const [name, nameOf] of Object.entries(STREAMS)) {
  test(`no count is too small, nor too large by more than the total divided by the counters: ${name}`, () => {
    const length = 10_000;
    const { truth, found } = count(length, nameOf);
    assert.ok(found.length <= COUNTERS);
    assert.equal(
      found.reduce((sum, { requests }) => sum + requests, 0),
      length,
    );
    for (const { value, requests, bytes } of found) {
      const really = truth.get(value) ?? 0;
      assert.ok(requests >= really && requests <= really + length / COUNTERS, `${value} ${requests} ${really}`);
      assert.ok(bytes <= really * 10);
    }
    const values = new Set(found.map(({ value }) => value));
    for (const [value, really] of truth) assert.ok(really <= length / COUNTERS || values.has(value), value);
    assert.ok(found.every(({ requests }, n) => requests <= (found[n - 1]?.requests ?? length)));
  });
}
