import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { SubmitOutcome } from './carrier.ts';
import { Misconfiguration } from './misconfiguration.ts';

const WRONG_SENDER: SubmitOutcome = { kind: 'refused', status: '0x0000000a', class: 'misconfigured' };
const WRONG_NUMBER: SubmitOutcome = { kind: 'refused', status: '0x0000000b', class: 'permanent' };
const ACCEPTED: SubmitOutcome = { kind: 'accepted', carrierId: '1', keys: ['1'] };

test('ten refusals in a row for the settings are the connector, whatever else comes between', () => {
  const it = new Misconfiguration();
  for (let n = 1; n < 10; n += 1) {
    assert.equal(it.note(WRONG_SENDER, n), undefined);
    assert.equal(it.note(WRONG_NUMBER, n), undefined);
  }
  assert.deepEqual([it.status, it.isResting(9)], [undefined, false]);
  assert.equal(it.note(WRONG_SENDER, 10), 60_000);
  assert.deepEqual([it.status, it.isResting(10)], ['0x0000000a', true]);
});

test('an accepted part ends the row', () => {
  const it = new Misconfiguration();
  for (let n = 0; n < 9; n += 1) it.note(WRONG_SENDER, 0);
  it.note(ACCEPTED, 0);
  assert.equal(it.note(WRONG_SENDER, 0), undefined);
  assert.equal(it.status, undefined);
});

test('answers to parts that were under way do not lengthen a rest; each further one is twice as long, up to 15 minutes', () => {
  const it = new Misconfiguration();
  const rests: number[] = [];
  let now = 0;
  for (let n = 0; n < 100; n += 1) {
    const restMs = it.note(WRONG_SENDER, now);
    if (restMs !== undefined) rests.push(restMs);
    // Two answers while it rests, then one when it has rested.
    if (n % 3 === 0) now += rests.at(-1) ?? 0;
  }
  assert.deepEqual(rests.slice(0, 6), [60_000, 120_000, 240_000, 480_000, 900_000, 900_000]);
});

test('the first accepted part after a rest ends it all', () => {
  const it = new Misconfiguration();
  for (let n = 0; n < 10; n += 1) it.note(WRONG_SENDER, 0);
  assert.equal(it.isResting(60_000), false);
  assert.equal(it.status, '0x0000000a');
  it.note(ACCEPTED, 60_000);
  assert.equal(it.status, undefined);
  for (let n = 0; n < 9; n += 1) assert.equal(it.note(WRONG_SENDER, 60_000), undefined);
  assert.equal(it.note(WRONG_SENDER, 60_000), 60_000);
});
