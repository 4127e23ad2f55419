import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOriginUses } from './origin-use.ts';
import type { ProbeTarget } from './probe-schedule.ts';

test('use of an origin is reported once a minute, of a skipped one every 5 s, and a change at once', () => {
  const uses = createOriginUses();
  const rows = [
    [0, false, 1],
    [59_999, false, 0],
    [60_000, false, 1],
    [60_001, true, 1],
    [65_000, true, 0],
    [65_001, true, 1],
    [65_002, false, 1],
    [1, false, 1], // the clock was set back
  ] as const;
  for (const [now, isPassedOver, told] of rows) {
    uses.note({ target: target('a:80'), isPassedOver }, now);
    assert.equal(uses.take().length, told, `at ${now}`);
  }
  uses.note({ target: target('b:80'), isPassedOver: false }, 1);
  assert.deepEqual(
    uses.take().map((use) => use.target.key),
    ['b:80'],
  );
});

test('uses beyond the limit of one report are reported later', () => {
  const uses = createOriginUses();
  const noteAll = () => {
    for (let i = 0; i < 1_500; i++) uses.note({ target: target(`h${i}:80`), isPassedOver: false }, 0);
    return uses.take().length;
  };
  assert.deepEqual([noteAll(), noteAll(), noteAll()], [1_000, 500, 0]);
});

function target(key: string): ProbeTarget {
  return { key, destination: { host: key, port: 80, isAddress: false, serverName: undefined } };
}
