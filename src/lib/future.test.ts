import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { after, type Eventual, Future, recover } from './future.ts';

/** The same value in each form; the last two are settled later. */
const FORMS: readonly (readonly [string, (value: number) => Eventual<number>])[] = [
  ['a value', (value) => value],
  ['a settled future', (value) => settled((future) => future.resolve(value))],
  ['a future', (value) => later((future) => future.resolve(value))],
  ['a promise', (value) => Promise.resolve(value)],
];

function settled(settle: (future: Future<number>) => void): Future<number> {
  const future = new Future<number>();
  settle(future);
  return future;
}

function later(settle: (future: Future<number>) => void): Future<number> {
  const future = new Future<number>();
  setImmediate(() => settle(future));
  return future;
}

describe('a chain of steps', () => {
  for (const [what, make] of FORMS) {
    for (const [whatNext, makeNext] of FORMS) {
      test(`${what} goes on to ${whatNext}`, async () => {
        assert.equal(await after(make(2), (value) => makeNext(value + 1)), 3);
      });
    }

    test(`an error behind ${what} is recovered from, once`, async () => {
      const fault = new Error('a fault');
      const errors: unknown[] = [];
      const failing = recover(
        () => after(make(1), (): Eventual<number> => Promise.reject(fault)),
        (error) => {
          errors.push(error);
          return make(7);
        },
      );
      const throwing = recover(
        () =>
          after(make(1), (): number => {
            throw fault;
          }),
        (error) => {
          errors.push(error);
          return make(8);
        },
      );
      assert.deepEqual([await failing, await throwing], [7, 8]);
      assert.deepEqual(errors, [fault, fault]);
    });

    test(`an error that recovery from ${what} throws is passed on`, async () => {
      const chain = async () =>
        recover(
          () =>
            after(make(1), (): number => {
              throw new Error('first');
            }),
          () => {
            throw new Error('second');
          },
        );
      await assert.rejects(chain, /second/);
    });
  }

  test('steps that need not wait are done in the call, and in the turn in which the first value is there', () => {
    const steps: string[] = [];
    const first = new Future<string>();
    const note = (value: Eventual<string>) =>
      after(
        after(value, (text) => `${text}!`),
        (text) => steps.push(text),
      );
    void note('at once');
    void note(first);
    assert.deepEqual(steps, ['at once!']);
    first.resolve('later');
    assert.deepEqual(steps, ['at once!', 'later!']);
  });
});

describe('a future', () => {
  test('a future keeps its first outcome', async () => {
    const [good, bad] = [new Future<number>(), new Future<number>()];
    good.resolve(1);
    good.resolve(2);
    good.reject(new Error('too late'));
    bad.reject(new Error('first'));
    bad.resolve(3);
    assert.equal(await good, 1);
    await assert.rejects(async () => bad, /first/);
  });

  test('a second reader of a future is refused', () => {
    const future = new Future<number>();
    void after(future, () => undefined);
    assert.throws(() => after(future, () => undefined), /one reader/);
  });
});
