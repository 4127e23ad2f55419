/** Random operations against a model: each store finds what the model has or, if it may evict, nothing. */
import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import fc from 'fast-check';
import { DEFAULT_CACHE_OPTIONS } from '#sites/cache-options.ts';
import { overwrite } from '../../../test/support/edge/overwrite.ts';
import { temporaryFolder } from '../../../test/support/temporary.ts';
import { DiskStore } from './disk/disk.ts';
import { MemoryStore } from './memory.ts';
import type { CacheStore } from './store.ts';
import { putText, textOf } from './store-samples.suite.ts';
import { TieredStore } from './tiered.ts';

type Step =
  | {
      readonly kind: 'put';
      readonly key: number;
      readonly variant: number;
      readonly size: number;
      readonly lateMs: number;
    }
  | { readonly kind: 'freshen' | 'remove' | 'invalidate' | 'find'; readonly key: number }
  | { readonly kind: 'settle' | 'reopen' };

const key = fc.integer({ min: 0, max: 3 });
const size = fc.constantFrom(0, 1, 100, 8_192, 8_193, 32_769, 300_000);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('put'),
      key,
      variant: fc.integer({ min: 0, max: 2 }),
      size,
      lateMs: fc.constantFrom(0, 0, 0, 2),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constantFrom('freshen', 'remove', 'invalidate', 'find'), key }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('settle', 'reopen') }) },
);

interface Kept {
  text: string;
  requestAt: number;
  responseAt: number;
}

interface Case {
  readonly name: string;
  readonly runs: number;
  /** Whether the store may have evicted any entry. */
  readonly mayForget: boolean;
  open(t: TestContext, directory: string): { readonly store: CacheStore; settle(): Promise<void> };
}

const MB = 1_000_000;
const CASES: readonly Case[] = [
  { name: 'memory', runs: 60, mayForget: false, open: () => inMemory(100 * MB) },
  { name: 'little memory', runs: 60, mayForget: true, open: () => inMemory(60_000) },
  { name: 'disk', runs: 25, mayForget: false, open: (_t, directory) => onDisk(directory, 100 * MB) },
  { name: 'a small disk', runs: 15, mayForget: true, open: (_t, directory) => onDisk(directory, 1 * MB) },
  { name: 'tiers', runs: 25, mayForget: false, open: (_t, directory) => inTiers(directory, 100 * MB) },
  {
    name: 'tiers with little memory',
    runs: 25,
    mayForget: false,
    open: (_t, directory) => inTiers(directory, 200_000),
  },
];

for (const { name, runs, mayForget, open } of CASES) {
  test(`${name}: a look-up finds the last version, whatever happens`, async (t) => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 30 }), (steps) => runSteps(t, steps, open, mayForget)),
      { numRuns: runs, seed: 1 },
    );
  });
}

async function runSteps(t: TestContext, steps: readonly Step[], open: Case['open'], mayForget: boolean): Promise<void> {
  const directory = temporaryFolder(t);
  let opened = open(t, directory);
  /** Response that was put, by key and variant. */
  const model = new Map<string, Kept>();
  const invalidated = new Map<number, number>();
  let now = 1_000;
  const of = (wanted: number) => [...model].filter(([name]) => name.startsWith(`${wanted}:`));
  for (const [index, each] of steps.entries()) {
    now += 1;
    const { store } = opened;
    switch (each.kind) {
      case 'put': {
        const bytes = Math.min(each.size, store.maxBodyBytes);
        const text = `${index} `.padEnd(bytes, 'x').slice(0, bytes);
        const requestAt = now - each.lateMs;
        putText(store, `k${each.key}`, text, {
          vary: ['x'],
          varyKey: String(each.variant),
          requestAt,
          responseAt: now,
        });
        if (requestAt > (invalidated.get(each.key) ?? 0))
          model.set(`${each.key}:${each.variant}`, { text, requestAt, responseAt: now });
        break;
      }
      case 'freshen': {
        const found = (await store.find(`k${each.key}`))?.variants[0];
        if (found === undefined) break;
        store.put(`k${each.key}`, { ...found, responseAt: now }, DEFAULT_CACHE_OPTIONS);
        const kept = model.get(`${each.key}:${found.varyKey}`);
        if (kept !== undefined) kept.responseAt = now;
        break;
      }
      case 'remove': {
        const found = (await store.find(`k${each.key}`))?.variants[0];
        if (found === undefined) break;
        store.remove(`k${each.key}`, found);
        model.delete(`${each.key}:${found.varyKey}`);
        break;
      }
      case 'invalidate':
        store.invalidate(`k${each.key}`, now);
        invalidated.set(each.key, now);
        for (const [name] of of(each.key)) model.delete(name);
        break;
      case 'settle':
        await opened.settle();
        break;
      case 'reopen':
        if (store instanceof MemoryStore) break;
        await store[Symbol.asyncDispose]();
        opened = open(t, directory);
        await opened.settle(); // the contents of the disk have been read
        break;
      case 'find':
        break;
    }
    for (let wanted = 0; wanted < 4; wanted++) await compare(opened.store, wanted, new Map(of(wanted)), mayForget);
  }
  await opened.store[Symbol.asyncDispose]();
}

async function compare(
  store: CacheStore,
  wanted: number,
  expected: ReadonlyMap<string, Kept>,
  mayForget: boolean,
): Promise<void> {
  const { variants = [] } = (await store.find(`k${wanted}`)) ?? {};
  if (!mayForget) assert.equal(variants.length, expected.size);
  for (const variant of variants) {
    const kept = expected.get(`${wanted}:${variant.varyKey}`);
    assert.deepEqual([variant.requestAt, variant.responseAt], [kept?.requestAt, kept?.responseAt]);
    const text = await textOf(variant);
    if (text !== undefined || !mayForget) assert.equal(text, kept?.text);
  }
}

function inMemory(maxBytes: number) {
  return { store: new MemoryStore({ maxBytes, onFreed: overwrite }), settle: async () => undefined };
}

function onDisk(directory: string, maxBytes: number) {
  const store = new DiskStore({ directory, maxBytes, onProblem: failOnTrouble });
  return { store, settle: () => store.settle() };
}

function inTiers(directory: string, memoryBytes: number) {
  const disk = new DiskStore({ directory, maxBytes: 100 * MB, onProblem: failOnTrouble });
  return {
    store: new TieredStore({ memory: new MemoryStore({ maxBytes: memoryBytes, onFreed: overwrite }), disk }),
    settle: () => disk.settle(),
  };
}

function failOnTrouble(problem: string, error: unknown): void {
  throw new Error(problem, { cause: error });
}
