import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createSlowReaders } from './slow-readers.ts';

test('the connection that holds most is cut first beyond the bound, and of its answers the one that waited longest', () => {
  const cut: string[] = [];
  const readers = createSlowReaders(100);
  /** A waiting client. Without `secured` it is on a connection of its own, as over plain HTTP/1.1. */
  const wait = (name: string, secured?: object, bytes = 20) => {
    // `as`: all that is looked at.
    const received = { secured } as Parameters<typeof readers.wait>[0]['received'];
    return readers.wait({ received, cut: (status) => void cut.push(`${name} ${status}`) }, bytes);
  };
  const [h2, other] = [{}, {}];
  const done = ['a', 'b', 'c'].map((name) => wait(name, h2));
  const alone = [wait('d'), wait('e', other)];
  wait('memory', h2, 0);
  assert.deepEqual(cut, []);
  const late = wait('f');
  assert.deepEqual(cut, ['a 503']);
  done[0]?.(); // whoever is cut ends its waiting too
  wait('g');
  assert.deepEqual(cut.splice(0), ['a 503', 'b 503']);
  wait('h');
  assert.deepEqual(cut.splice(0), ['c 503'], 'of equals the one that has waited longest');
  for (const end of [...done, ...alone, late]) end();
  for (const name of ['i', 'k', 'l']) wait(name);
  assert.deepEqual(cut, []);
});
