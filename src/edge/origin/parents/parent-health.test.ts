import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createParentHealth } from './parent-health.ts';

test('a parent is out after three failures within ten seconds, for ten seconds, then for twice as long', () => {
  const health = createParentHealth();
  for (const at of [0, 4_000]) health.noteFailure('par1', at);
  assert.equal(health.isOut('par1', 4_000), false);
  health.noteFailure('par1', 9_000);
  assert.deepEqual(
    [9_000, 18_999, 19_000].map((at) => health.isOut('par1', at)),
    [true, true, false],
  );
  let now = 19_000;
  for (const outMs of [20_000, 40_000, 60_000, 60_000]) {
    health.noteFailure('par1', now);
    assert.deepEqual(
      [now + outMs - 1, now + outMs].map((at) => health.isOut('par1', at)),
      [true, false],
    );
    now += outMs;
  }
  assert.equal(health.isOut('par2', 9_000), false);
});

test('failures that lie apart, or before an answer, do not count', () => {
  const health = createParentHealth();
  for (const at of [0, 10_000, 20_000, 30_000]) health.noteFailure('par1', at);
  assert.equal(health.isOut('par1', 30_000), false);
  health.noteFailure('par1', 31_000);
  health.noteAnswer('par1');
  for (const at of [32_000, 33_000]) health.noteFailure('par1', at);
  assert.equal(health.isOut('par1', 33_000), false);
});

test('a clock that is set back keeps no parent out', () => {
  const health = createParentHealth();
  for (const at of [100_000, 100_001, 100_002]) health.noteFailure('par1', at);
  assert.equal(health.isOut('par1', 50_000), false);
});

test('requests of one site that are not answered in time put no parent out, those of two do', () => {
  const health = createParentHealth();
  for (let at = 0; at < 9; at++) health.noteFailure('par1', at, 7);
  assert.equal(health.isOut('par1', 9), false);
  health.noteFailure('par1', 9, 8);
  assert.equal(health.isOut('par1', 9), true);
  health.noteFailure('par1', 10_009, 7);
  assert.equal(health.isOut('par1', 10_009), false, 'its trial by one of them is none');
  health.noteFailure('par1', 10_010);
  assert.equal(health.isOut('par1', 10_010), true);
});

test('a site that is slow adds nothing to other failures', () => {
  const health = createParentHealth();
  for (const at of [0, 1]) health.noteFailure('par1', at);
  health.noteFailure('par1', 2, 7);
  assert.equal(health.isOut('par1', 2), false);
  health.noteFailure('par1', 3);
  assert.equal(health.isOut('par1', 3), true);
});
