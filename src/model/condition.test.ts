import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { CONDITIONS, type Condition, judgeConditions, type Observation } from './condition.ts';
import type { NewServiceEvent } from './event.ts';

const START = 1_000_000;

const down: Observation = {
  kind: 'origin',
  key: '7 origin.example:80',
  accountId: 3,
  target: { kind: 'domain', id: '7', name: 'www.example.com' },
  level: 0,
  data: { origin: 'origin.example:80' },
};

/** Judges one look after the other, as control does; `looks`: seconds since the start, and what is seen then. */
function follow(looks: readonly (readonly [second: number, observed: readonly Observation[]])[]) {
  let stored = new Map<string, Condition>();
  const told: string[] = [];
  const events: NewServiceEvent[] = [];
  for (const [second, observed] of looks) {
    const judged = judgeConditions([...stored.values()], observed, START + second * 1000);
    stored = new Map(stored);
    for (const { key } of judged.ended) stored.delete(key);
    for (const condition of judged.save) stored.set(condition.key, condition);
    events.push(...judged.events);
    told.push(...judged.events.map(({ kind }) => `${second} ${kind}`));
  }
  return { told, events, stored: [...stored.values()] };
}

describe('conditions', () => {
  test('a condition is told once it has lasted, and its end once it has been gone for longer', () => {
    const { told, stored } = follow([
      [0, [down]],
      [5, [down]],
      [10, [down]],
      [15, [down]],
      [20, []],
      [79, []],
      [80, []],
      [90, []],
    ]);
    assert.deepEqual(told, ['10 origin.down', '80 origin.up']);
    assert.deepEqual(stored, []);
  });

  test('a condition that comes and goes is told once', () => {
    const flapping = Array.from({ length: 60 }, (_, n) => [n * 5, n % 3 === 0 ? [] : [down]] as const);
    assert.deepEqual(follow(flapping).told, [], 'it never lasts');
    const { told } = follow([[0, [down]], [10, [down]], ...flapping.map(([at, seen]) => [at + 20, seen] as const)]);
    assert.deepEqual(told, ['10 origin.down'], 'it is never gone for long');
  });

  test('a higher level is told again, the same or a lower one is not', () => {
    const at = (level: number): Observation => ({ ...down, kind: 'certificate', level, data: { days: 14 - level } });
    const { told, events } = follow([
      [0, [at(1)]],
      [1, [at(1)]],
      [2, [at(3)]],
      [3, [at(2)]],
      [4, [at(3)]],
      [5, []],
    ]);
    assert.deepEqual(told, ['0 certificate.expiring', '2 certificate.expiring']);
    assert.deepEqual(
      events.map(({ data }) => data),
      [{ days: 13 }, { days: 11 }],
    );
  });

  test('an unchanged condition is not stored again', () => {
    const { stored } = follow([
      [0, [down]],
      [10, [down]],
    ]);
    assert.deepEqual(judgeConditions(stored, [down], START + 15_000), { save: [], ended: [], events: [] });
  });

  test('a clock that was set back makes nothing wait', () => {
    const { told } = follow([
      [1000, [down]],
      [0, [down]],
      [1, []],
      [0, []],
    ]);
    assert.deepEqual(told, ['0 origin.down', '0 origin.up']);
  });

  test('an account has at most 500 conditions of a kind, and others have theirs', () => {
    const many = Array.from({ length: 700 }, (_, n) => ({ ...down, kind: 'quota', key: `${n}` }) as const);
    const other = { ...down, kind: 'quota', key: 'other', accountId: 4 } as const;
    const { events } = judgeConditions([], [...many, other], START);
    assert.equal(events.length, 501);
    assert.equal(events.filter(({ accountId }) => accountId === 4).length, 1);
  });

  test('every rule waits longer for an end than for a beginning, or for neither', () => {
    for (const [kind, { raiseMs, clearMs }] of Object.entries(CONDITIONS))
      assert.ok((raiseMs === 0 && clearMs === 0) || raiseMs + clearMs >= 40_000, kind);
  });
});
