import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createReadTurns } from './read-turns.ts';

/** Read turns that begin when the test says so. */
function open(maxBytes: number) {
  const deferred: (() => void)[] = [];
  const turns = createReadTurns(maxBytes, (work) => void deferred.push(work));
  const read: string[] = [];
  /** Reads chunks of 10 bytes until it must stop. Returns a function that starts it. */
  const connection = (name: string, chunks: number): (() => void) => {
    let left = chunks;
    const goOn = (): void => {
      while (left-- > 0) {
        read.push(name);
        if (!reader.note(10)) return;
      }
    };
    const reader = turns.open(goOn);
    return goOn;
  };
  const beginTurn = (): string => {
    read.length = 0;
    for (const work of deferred.splice(0)) work();
    return read.join('');
  };
  return { turns, connection, beginTurn, read, deferred };
}

test('connections share the bytes of a turn: each may read once, the others wait', () => {
  const { connection, beginTurn, read } = open(40);
  for (const name of ['a', 'b', 'c']) connection(name, 5)();
  assert.equal(read.join(''), 'aaaabc');
  assert.equal(beginTurn(), 'abbb', 'what is left of a, and then b up to the bound');
});

test('half of a turn goes to the bodies that began first, the other half to those that have waited longest', () => {
  const { turns, beginTurn, read } = open(40);
  const readers = ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => {
    const reader = turns.open(() => {
      read.push(name);
      reader.note(10); // its socket has nothing more for now
    });
    return reader;
  });
  for (const reader of readers.toReversed()) reader.note(40);
  assert.equal(beginTurn(), 'abfe');
  assert.equal(beginTurn(), 'cde');
});

test('a connection that ended while it waited takes nothing from the others', () => {
  const { connection, beginTurn } = open(20);
  connection('a', 2)();
  connection('b', 3)();
  assert.deepEqual([beginTurn(), beginTurn()], ['bb', '']);
});

test('reading below the bound waits for no turn, and none is begun', () => {
  const { connection, beginTurn, read, deferred } = open(100);
  connection('a', 4)();
  connection('b', 4)();
  assert.equal(read.join(''), 'aaaabbbb');
  assert.equal(beginTurn(), '');
  assert.equal(deferred.length, 0);
  connection('c', 9)();
  assert.equal(read.join(''), 'ccccccccc', 'the bound is that of one turn');
});
