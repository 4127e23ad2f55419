/** What every connector does, whatever it speaks. */
import assert from 'node:assert/strict';
import { describe, type TestContext, test } from 'node:test';
import { partToSubmit, type TestCarrier } from '../../../test/support/sms/carrier.ts';

/** `connect`: to somebody who takes everything. `taken`: the kind of outcome of what was taken. */
export function connectorSuite(
  name: string,
  options: { readonly skip?: string | false },
  taken: 'accepted' | 'simulated',
  connect: (t: TestContext) => Promise<TestCarrier>,
): void {
  describe(`a connector: ${name}`, options, () => {
    test('a connector is connecting at first, and has no room', async (t) => {
      const { carrier } = await connect(t);
      assert.deepEqual([carrier.state, carrier.room], ['connecting', 0]);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'unsent');
    });

    test('a connector accepts as many parts as it has room for, settles each once, and reports when there is room', async (t) => {
      const { carrier, bound, states, roomFreed } = await connect(t);
      await bound();
      assert.deepEqual([states, roomFreed()], [['bound'], 1]);
      const count = Math.min(carrier.room, 50);
      const outcomes = await Promise.all(
        Array.from({ length: count }, (_, n) => carrier.submit(partToSubmit({ partId: n + 1 }))),
      );
      assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set([taken]));
      assert.ok(carrier.room >= count);
    });

    test('a closed connector accepts nothing, and closing it again does nothing', async (t) => {
      const { carrier, bound, states } = await connect(t);
      await bound();
      await carrier[Symbol.asyncDispose]();
      await carrier[Symbol.asyncDispose]();
      assert.deepEqual([carrier.state, carrier.room, states.at(-1)], ['closed', 0, 'closed']);
      assert.equal((await carrier.submit(partToSubmit())).kind, 'unsent');
    });

    test('a connector closed before it was bound stays closed', async (t) => {
      const { carrier } = await connect(t);
      await carrier[Symbol.asyncDispose]();
      assert.equal(carrier.state, 'closed');
    });
  });
}
