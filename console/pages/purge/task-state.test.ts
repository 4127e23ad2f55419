import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { countsOf, everyMsOf, worstFirst } from './task-state.ts';

describe('the state of a task', () => {
  test('what failed comes first, and the order is kept within each state', () => {
    const objects = ['done a', 'waiting b', 'failed c', 'done d', 'failed e'].map((text) => {
      const [state, name] = text.split(' ');
      return { state: state as 'done', name };
    });
    assert.deepEqual(
      worstFirst(objects)
        .map(({ name }) => name)
        .join(''),
      'cebad',
    );
  });

  test('each address at each edge is a step', () => {
    const items = [
      { waiting: 1, done: 2, failed: 0 },
      { waiting: 0, done: 2, failed: 1 },
    ];
    assert.deepEqual(countsOf(items), { waiting: 1, done: 4, failed: 1 });
    assert.deepEqual(countsOf([]), { waiting: 0, done: 0, failed: 0 });
  });

  test('only what is under way is asked for again', () => {
    assert.ok(everyMsOf([{ state: 'done' }, { state: 'running' }]));
    for (const state of ['done', 'failed'] as const) assert.equal(everyMsOf([{ state }]), false);
    assert.equal(everyMsOf([]), false);
  });
});
