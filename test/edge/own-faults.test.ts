/** A fault of ours ends the request that it meets, and nothing else: no flight, body or connection waits for it afterwards. */
import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { MemoryStore } from '../../src/edge/store/memory.ts';
import { startTestEdge } from '../support/edge/edge.ts';
import { reply, startOrigin } from '../support/edge/origin.ts';

const MIB = 1024 * 1024;

/** Calls of the edge's parts in the order in which a plain miss makes them. */
const CALLS = ['find', 'findNewer', 'refuses', 'openWriter', 'maxShortcutBytes', 'put'] as const;

describe('a fault in a miss', () => {
  for (const call of CALLS) {
    test(`a fault in ${call} ends its request alone`, async (t) => {
      const origin = await startOrigin(t, reply('good', { 'cache-control': 'max-age=60' }));
      let faults = 0;
      const fail = () => {
        if (faults++ === 0) throw new Error('a fault');
      };
      const store = new MemoryStore({ maxBytes: MIB });
      if (call !== 'maxShortcutBytes') {
        const own: (...given: never[]) => unknown = store[call].bind(store);
        const failing = (...given: never[]) => {
          fail();
          return own(...given);
        };
        Object.assign(store, { [call]: failing });
      }
      const maxShortcutBytes = () => {
        if (call === 'maxShortcutBytes') fail();
        return MIB;
      };
      // One connection, so that a body that nobody reads would keep all others out.
      const limits = { maxOriginConnections: 1, originWaitMs: 1_000 };
      const edge = await startTestEdge(t, [origin.port], { store, maxShortcutBytes, limits });
      const first = await edge.get('/');
      assert.ok(faults > 0);
      assert.ok(first.status === 500 || !first.isWhole || call === 'put', `${first.status} ${first.body}`);
      const others = await Promise.all(['/', '/', '/other'].map((path) => edge.get(path)));
      assert.deepEqual(
        others.map(({ status, body }) => `${status} ${body}`),
        ['200 good', '200 good', '200 good'],
      );
      assert.equal(edge.edge.underWay, 0);
      assert.equal(edge.log.length, 4);
    });
  }
});
