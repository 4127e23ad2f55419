import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { MAX_ENTRY_BYTES, MAX_SLOT, type Place, PlaceIndex, SWEEP_PARTS } from './place-index.ts';

const place: fc.Arbitrary<Place> = fc.record(
  {
    slot: fc.integer({ min: 1, max: 4 }),
    offset: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    length: fc.integer({ min: 0, max: MAX_ENTRY_BYTES }),
    hasFiles: fc.boolean(),
    hidesOlder: fc.boolean(),
  },
  { noNullPrototype: true },
);
/** Few parts of the index and many equal homes, so that keys collide. */
const key = fc.record({
  high: fc.integer({ min: 0, max: 40 }).map((part) => part * (SWEEP_PARTS / 4)),
  low: fc.constantFrom(0, 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1),
});
const step = fc.oneof(
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('set'), key, place }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('delete'), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('sweep'), slot: fc.integer({ min: 1, max: 4 }) }) },
);

describe('the index of places', () => {
  test('the index has what was set last and not deleted, and nothing of slots that were swept', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
        const index = new PlaceIndex();
        const model = new Map<string, { high: number; low: number; place: Place }>();
        for (const each of steps) {
          if (each.kind === 'sweep') {
            index.sweep(SWEEP_PARTS, (slot) => slot !== each.slot);
            for (const [name, kept] of model) if (kept.place.slot === each.slot) model.delete(name);
            continue;
          }
          const { high, low } = each.key;
          if (each.kind === 'delete') {
            index.delete(high, low);
            model.delete(`${high} ${low}`);
          } else {
            index.set(high, low, each.place);
            model.set(`${high} ${low}`, { high, low, place: each.place });
          }
        }
        for (const { high, low, place: expected } of model.values()) assert.deepEqual(index.get(high, low), expected);
        for (let high = 0; high <= 40 * (SWEEP_PARTS / 4); high += SWEEP_PARTS / 4)
          for (const low of [0, 1, 2 ** 31, 2 ** 32 - 2, 2 ** 32 - 1])
            assert.equal(index.get(high, low) === undefined, !model.has(`${high} ${low}`));
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test('the index takes the largest of every number', () => {
    const index = new PlaceIndex();
    const largest = { slot: MAX_SLOT, offset: 2 ** 32 - 1, length: MAX_ENTRY_BYTES, hasFiles: true, hidesOlder: true };
    index.set(2 ** 32 - 1, 2 ** 32 - 1, largest);
    assert.deepEqual(index.get(2 ** 32 - 1, 2 ** 32 - 1), largest);
  });

  test('a sweep in pieces passes every part once', () => {
    const index = new PlaceIndex();
    for (let high = 0; high < SWEEP_PARTS; high++)
      index.set(high, 7, { slot: 1 + (high % 2), offset: high, length: 1, hasFiles: false, hidesOlder: false });
    const start = index.sweep(0, () => false);
    while (index.sweep(100, (slot) => slot === 1) < start + SWEEP_PARTS);
    for (let high = 0; high < SWEEP_PARTS; high++)
      assert.equal(index.get(high, 7)?.offset, high % 2 === 0 ? high : undefined);
  });
});
