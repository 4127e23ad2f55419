import assert from 'node:assert/strict';
import { mock, test } from 'node:test';
import { holdNothing } from '../store/memory-body.ts';
import type { StoredBody } from '../store/store.ts';
import { createPins } from './pins.ts';

test('evicted bodies that clients still read are bounded: the clients of the oldest are cut', (t) => {
  mock.timers.enable({ apis: ['setInterval'] });
  t.after(() => mock.timers.reset());
  const [counted, old, young] = [body(1000), body(60), body(60)];
  const pins = createPins({ maxBytes: 100, maxReaderBytes: 100, isCounted: (each) => each === counted });
  const cut: string[] = [];
  const client = (name: string) => ({ cut: () => void cut.push(name) });
  const release = pins.hold(counted, client('counted'));
  const free = [pins.hold(old, client('old 1')), pins.hold(old, client('old 2'))];
  mock.timers.tick(1_000);
  assert.deepEqual(cut, []);
  pins.hold(young, client('young'));
  mock.timers.tick(1_000);
  assert.deepEqual(cut, ['old 1', 'old 2']);
  for (const each of [...free, release]) each();
  mock.timers.tick(1_000);
  assert.equal(cut.length, 2);
});

function body(sizeBytes: number): StoredBody {
  return { sizeBytes, hold: holdNothing, read: () => [] };
}
