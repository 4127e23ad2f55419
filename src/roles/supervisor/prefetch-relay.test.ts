import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PrefetchRequest } from '#sites/prefetch.ts';
import type { ToChild } from '../process/messages.ts';
import { PrefetchRelay } from './prefetch-relay.ts';

const request = (target: string): PrefetchRequest => ({ host: 'a.example', target, scheme: 'http' });
const STORED = { kind: 'stored' } as const;

test('workers are asked in turn, and each outcome returns to its own prefetch', async () => {
  const { relay, sent } = createRelay(['a', 'b']);
  const first = relay.relay(request('/1'));
  const second = relay.relay(request('/2'));
  assert.deepEqual(sent, [
    ['a', { kind: 'prefetch', id: 1, request: request('/1') }],
    ['b', { kind: 'prefetch', id: 2, request: request('/2') }],
  ]);
  relay.settle('a', 2, { kind: 'failed', reason: 'not asked for this' });
  relay.settle('b', 2, { kind: 'failed', reason: 'connect' });
  relay.settle('a', 1, STORED);
  relay.settle('a', 1, { kind: 'failed', reason: 'too late' });
  assert.deepEqual([await first, await second], [STORED, { kind: 'failed', reason: 'connect' }]);
});

test('a worker without a process is skipped; without workers the prefetch is for later', async () => {
  const { relay, sent } = createRelay(['dead', 'b']);
  const outcome = relay.relay(request('/'));
  assert.equal(sent[0]?.[0], 'b');
  relay.settle('b', 1, STORED);
  assert.equal(await outcome, STORED);
  assert.equal(await createRelay(['dead']).relay.relay(request('/')), undefined);
  assert.equal(await createRelay([]).relay.relay(request('/')), undefined);
});

test('a worker that dies passes its prefetch on; a second death is its end', async () => {
  const { relay, sent } = createRelay(['a', 'b']);
  const outcome = relay.relay(request('/'));
  relay.forget('b');
  relay.forget('a');
  assert.deepEqual(
    sent.map(([name]) => name),
    ['a', 'b'],
  );
  relay.settle('a', 1, STORED);
  relay.forget('b');
  assert.deepEqual(await outcome, { kind: 'failed', reason: 'workerDied' });
});

function createRelay(names: readonly string[]) {
  const sent: [string, ToChild][] = [];
  const workers = names.map((name) => ({
    name,
    send: (message: ToChild) => {
      if (name !== 'dead') sent.push([name, message]);
      return name !== 'dead';
    },
  }));
  return { relay: new PrefetchRelay(() => workers), sent };
}
