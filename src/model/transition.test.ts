import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DomainState } from './domain.ts';
import {
  canChangeSettings,
  type DomainAction,
  nextState,
  statesThatAllow,
  stateWhenAdded,
  stateWhenChanged,
} from './transition.ts';

const ACTIONS: readonly DomainAction[] = ['close', 'open', 'resubmit', 'approve', 'reject', 'disable', 'enable'];

/** One row per state, one column per action in the order above; `-` is refused. */
const TABLE: readonly (readonly [DomainState, string])[] = [
  //            close   open  resubmit  approve  reject    disable   enable
  ['pending', ' -       -     pending   open     rejected  disabled  -'],
  ['open', '    closed  -     -         -        rejected  disabled  -'],
  ['closed', '  -       open  -         -        -         disabled  -'],
  ['rejected', '-       -     pending   open     -         disabled  -'],
  ['disabled', '-       -     -         -        -         -         open'],
];

test('each action leads from each state as the table says, or is refused', () => {
  for (const [state, row] of TABLE) {
    const found = ACTIONS.map((action) => {
      const next = nextState(state, action);
      return next.kind === 'state' ? next.state : '-';
    });
    assert.deepEqual(found, row.trim().split(/\s+/), state);
  }
});

test('a change is reviewed again if the domain was not approved, and otherwise not', () => {
  const rows: readonly (readonly [DomainState, DomainState, DomainState])[] = [
    //          auto        manual
    ['pending', 'open', 'pending'],
    ['open', 'open', 'open'],
    ['closed', 'closed', 'closed'],
    ['rejected', 'open', 'pending'],
    ['disabled', 'disabled', 'disabled'],
  ];
  for (const [state, auto, manual] of rows)
    assert.deepEqual([stateWhenChanged(state, 'auto'), stateWhenChanged(state, 'manual')], [auto, manual], state);
  assert.deepEqual([stateWhenAdded('auto'), stateWhenAdded('manual')], ['open', 'pending']);
});

test('the states that allow an action are those of its column', () => {
  assert.deepEqual(statesThatAllow('approve'), ['pending', 'rejected']);
  assert.deepEqual(statesThatAllow('enable'), ['disabled']);
});

test('settings change in every state but disabled', () => {
  const states = TABLE.map(([state]) => state);
  assert.deepEqual(states.filter(canChangeSettings), ['pending', 'open', 'closed', 'rejected']);
});
