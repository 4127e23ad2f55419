import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChangedMessage } from '../process/messages.ts';
import { ChangeRelay } from './change-relay.ts';

test('a change is confirmed when the last worker runs it', async () => {
  const { relay, sent } = createRelay(['a', 'b']);
  const done = watch(relay.relay({ revision: 7, names: ['x.example'] }));
  assert.deepEqual(sent.get('a'), [{ kind: 'changed', id: 1, revision: 7, names: ['x.example'] }]);
  relay.settle('a', 1);
  relay.settle('a', 1);
  assert.equal(await done(), false);
  relay.settle('b', 1);
  assert.equal(await done(), true);
});

test('a worker that is gone, or dies on the way, does not count', async () => {
  const { relay } = createRelay(['a', 'b', 'dead']);
  const done = watch(relay.relay({ revision: 7 }));
  relay.settle('a', 1);
  relay.forget('b');
  assert.equal(await done(), true);
});

test('a change without a worker that runs it is not confirmed', async () => {
  assert.equal(await createRelay(['dead']).relay.relay({ revision: 7 }), false);
  const { relay } = createRelay(['a', 'b']);
  const outcome = relay.relay({ revision: 8 });
  relay.forget('a');
  relay.forget('b');
  assert.equal(await outcome, false);
});

test('the live process is waited for, and does not put a change in force alone', async () => {
  const { relay, sent } = createRelay(['a', 'live']);
  const done = watch(relay.relay({ revision: 7 }));
  assert.equal(sent.get('live')?.length, 1);
  relay.settle('a', 1);
  assert.equal(await done(), false);
  relay.settle('live', 1);
  assert.equal(await done(), true);
  const next = relay.relay({ revision: 8 });
  relay.settle('live', 2);
  relay.forget('a');
  assert.equal(await next, false);
});

test('a silent worker is cut off, and its death confirms the change', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { relay, silent, killed } = createRelay(['a', 'b']);
  const done = watch(relay.relay({ revision: 7 }));
  relay.settle('a', 1);
  t.mock.timers.tick(9_999);
  assert.deepEqual(killed, []);
  t.mock.timers.tick(1);
  assert.deepEqual([silent, killed], [['b'], ['b']]);
  assert.equal(await done(), false);
  relay.forget('b');
  assert.equal(await done(), true);
});

test('a worker that was still starting has its time from when it is ready, and is cut off if it never is', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { relay, killed, workers } = createRelay(['a', 'slow', 'stuck']);
  const [, slow, stuck] = workers;
  assert.ok(slow !== undefined && stuck !== undefined);
  slow.isReady = false;
  stuck.isReady = false;
  const done = watch(relay.relay({ revision: 7 }));
  relay.settle('a', 1);
  t.mock.timers.tick(9_999);
  slow.isReady = true; // at the last moment
  t.mock.timers.tick(1);
  t.mock.timers.tick(9_999);
  assert.deepEqual(killed, []);
  t.mock.timers.tick(1);
  assert.deepEqual(killed, ['slow']);
  relay.forget('slow');
  for (let limits = 3; limits < 12; limits++) t.mock.timers.tick(10_000);
  assert.deepEqual(killed, ['slow']);
  t.mock.timers.tick(10_000);
  assert.deepEqual(killed, ['slow', 'stuck']);
  relay.forget('stuck');
  assert.equal(await done(), true);
  t.mock.timers.tick(1_000_000);
  assert.deepEqual(killed, ['slow', 'stuck'], 'and that is the end of it');
});

function createRelay(names: readonly string[]) {
  const sent = new Map<string, ChangedMessage[]>();
  const silent: string[] = [];
  const killed: string[] = [];
  const receivers = names.map((name) => ({
    name,
    isReady: true,
    send: (message: ChangedMessage) => {
      if (name === 'dead') return false;
      sent.set(name, [...(sent.get(name) ?? []), message]);
      return true;
    },
    kill: () => void killed.push(name),
  }));
  const isOther = ({ name }: { name: string }) => name === 'live';
  const workers = receivers.filter((receiver) => !isOther(receiver));
  const relay = new ChangeRelay({
    workers: () => workers,
    others: () => receivers.filter(isOther),
    limitMs: 10_000,
    onSilent: ({ name }) => silent.push(name),
  });
  return { relay, sent, silent, killed, workers };
}

/** Gives whether the change has been confirmed by now. */
function watch(promise: Promise<boolean>): () => Promise<boolean> {
  let isDone = false;
  void promise.then((isRun) => {
    isDone = isRun;
  });
  return async () => {
    await new Promise((resolve) => setImmediate(resolve));
    return isDone;
  };
}
