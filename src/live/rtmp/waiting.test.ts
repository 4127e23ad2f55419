import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Waiting } from './waiting.ts';

test('the oldest connection of a network makes room for its newer ones, and for no other network', () => {
  const waiting = new Waiting<string>({ maxWaitingPerNetwork: 2, maxWaiting: 10 });
  const gone = ['a1', 'b1', 'a2', 'a3', 'b2', 'a4'].map((item) => waiting.enter(item, item.charAt(0)));
  assert.deepEqual(gone, [undefined, undefined, undefined, 'a1', undefined, 'a2']);
  waiting.leave('a3');
  assert.equal(waiting.enter('a5', 'a'), undefined);
  assert.deepEqual(waiting.items(), ['b1', 'b2', 'a4', 'a5']);
});

test('the oldest of all makes room when there are too many in total, known network or not', () => {
  const waiting = new Waiting<number>({ maxWaitingPerNetwork: 2, maxWaiting: 3 });
  const gone = [1, 2, 3, 4, 5].map((item) => waiting.enter(item, item === 2 ? undefined : String(item)));
  assert.deepEqual(gone, [undefined, undefined, undefined, 1, 2]);
});

test('a connection that enters again counts once, as the newest', () => {
  const waiting = new Waiting<string>({ maxWaitingPerNetwork: 2, maxWaiting: 10 });
  waiting.enter('a', undefined);
  waiting.enter('b', 'n');
  waiting.enter('a', 'n');
  assert.deepEqual(waiting.items(), ['b', 'a']);
  assert.equal(waiting.enter('c', 'n'), 'b');
});
