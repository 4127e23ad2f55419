import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { Arena } from './arena.ts';
import { Pages } from './pages.ts';
import { NONE } from './slot-table.ts';
import { WeightedIndex } from './weighted-index.ts';

describe('the arena', () => {
  test('the arena returns every record as it was written, also after pages were emptied and given back', () => {
    const step = fc.record({
      owner: fc.integer({ min: 0, max: 40 }),
      size: fc.integer({ min: 0, max: 3_000 }),
      isFree: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const records = new Map<number, { first: number; bytes: Buffer }>();
        const arena = new Arena(new Pages(200_000), (owner, first) => {
          const record = records.get(owner);
          assert.ok(record !== undefined, 'only records in use move');
          record.first = first;
        });
        for (const [index, { owner, size, isFree }] of steps.entries()) {
          const old = records.get(owner);
          if (old !== undefined) arena.free(old.first);
          records.delete(owner);
          const bytes = Buffer.alloc(size, index);
          if (!isFree) {
            const before = arena.bytes;
            const growth = arena.growthFor(size);
            records.set(owner, { first: arena.write(owner, bytes), bytes });
            if (size > 0) assert.equal(arena.bytes, before + growth);
          }
          const before = arena.bytes;
          if (arena.giveBackPage()) assert.ok(arena.bytes < before);
          for (const record of records.values())
            assert.ok(arena.read(record.first, record.bytes.length).equals(record.bytes));
        }
        for (const record of records.values()) arena.free(record.first);
        while (arena.giveBackPage());
        assert.equal(arena.bytes, 0);
      }),
      { numRuns: 100, seed: 1 },
    );
  });
});

describe('the index', () => {
  test('the index finds its entries and nothing else, and weighs them, after any changes', () => {
    // Few low halves, so that many hashes share a home.
    const step = fc.record({
      high: fc.integer({ min: 0, max: 9 }),
      low: fc.constantFrom(0, 1, 2, 127, 128, 0xffffffff),
      isGone: fc.boolean(),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), (steps) => {
        const index = new WeightedIndex();
        const model = new Map<string, { readonly slot: number; readonly weight: number }>();
        for (const [weight, { high, low, isGone }] of steps.entries()) {
          const key = `${high} ${low}`;
          const slot = index.find(high, low);
          assert.equal(slot, model.get(key)?.slot ?? NONE);
          if (slot !== NONE) index.delete(slot);
          if (isGone) model.delete(key);
          else model.set(key, { slot: index.insert(high, low, weight), weight });
          assert.equal(index.size, model.size);
          for (const entry of model.values()) assert.equal(index.weightOf(entry.slot), entry.weight);
        }
        // Every entry is evicted once, until none is left.
        for (let victim = index.victim(); victim !== NONE; victim = index.victim()) {
          const entry = [...model].find(([, { slot }]) => slot === victim);
          assert.ok(entry !== undefined && model.delete(entry[0]));
          index.delete(victim);
        }
        assert.equal(model.size, 0);
      }),
      { numRuns: 200, seed: 1 },
    );
  });

  test('the index spares entries used since the hand last passed', () => {
    const index = new WeightedIndex();
    const slots = [0, 1, 2, 3, 4].map((key) => index.insert(0, key, 1));
    for (const key of [0, 2]) index.markUsed(index.find(0, key));
    const order: number[] = [];
    for (let victim = index.victim(); victim !== NONE; victim = index.victim()) {
      order.push(slots.indexOf(victim));
      index.delete(victim);
    }
    assert.deepEqual(order, [1, 3, 4, 0, 2]);
  });
});
