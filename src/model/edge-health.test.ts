import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  type CheckResult,
  clockOffsetMs,
  clockProblem,
  firstCheck,
  nextCheck,
  type OwnFacts,
  ownCondition,
} from './edge-health.ts';

test('a check fails after two failures in a row, and passes again after three successes', () => {
  /** `x` is a failure; below each result, whether the check counts as failed. */
  const rows: readonly (readonly [string, string])[] = [
    ['....', '....'],
    ['.x..', '....'],
    ['.xx.', '..xx'],
    ['.x.x', '....'],
    ['x...', 'xxx.'],
    ['.xx..x...', '..xxxxxx.'],
  ];
  for (const [results, expected] of rows) {
    const [first, ...others] = [...results].map((result) => (result === 'x' ? 'cut off' : undefined));
    let history = firstCheck(first);
    const found = [history];
    for (const problem of others) {
      history = nextCheck(history, problem);
      found.push(history);
    }
    assert.equal(found.map(({ isFailed }) => (isFailed ? 'x' : '.')).join(''), expected, results);
    for (const { isFailed, detail } of found) assert.equal(detail, isFailed ? 'cut off' : undefined);
  }
});

test("an edge's own state is that of its settings, its checks and its drain", () => {
  const passed: readonly CheckResult[] = [
    { check: 'workers', ok: true },
    { check: 'disk', ok: true },
  ];
  const failed: readonly CheckResult[] = [...passed, { check: 'clock', ok: false }, { check: 'http', ok: false }];
  const ready: OwnFacts = { hasSettings: true, isOrderedToDrain: false, drainsItself: false, checks: passed };
  const rows: readonly (readonly [string, Partial<OwnFacts>])[] = [
    ['ready ready', {}],
    ['syncing syncing', { hasSettings: false }],
    ['syncing syncing', { checks: undefined }],
    ['unhealthy clock', { checks: failed }],
    ['ready draining', { isOrderedToDrain: true }],
    ['unhealthy draining', { isOrderedToDrain: true, checks: failed }],
    ['draining draining', { drainsItself: true }],
    ['draining draining', { drainsItself: true, checks: failed, isOrderedToDrain: true }],
  ];
  for (const [expected, facts] of rows) {
    const { state, word } = ownCondition({ ...ready, ...facts });
    assert.equal(`${state} ${word}`, expected, JSON.stringify(facts));
  }
});

test("the offset of a clock is taken from control's Date, and is a problem beyond a minute", () => {
  const at = Date.parse('Mon, 30 Nov 2026 05:00:00 GMT') + 500;
  const offset = (sentAt: number, receivedAt: number, date?: string) =>
    clockOffsetMs(date ?? 'Mon, 30 Nov 2026 05:00:00 GMT', { sentAt, receivedAt });
  assert.equal(offset(at, at), 0);
  assert.equal(offset(at + 1000, at + 3000), 2000);
  assert.equal(offset(at - 3 * 86_400_000, at - 3 * 86_400_000), -259_200_000);
  assert.equal(offset(at, at, 'yesterday'), undefined);
  assert.equal(clockOffsetMs(undefined, { sentAt: at, receivedAt: at }), undefined);
  assert.equal(clockProblem(undefined), undefined);
  assert.equal(clockProblem(60_000), undefined);
  assert.equal(clockProblem(61_000), '61 s ahead of control');
  assert.equal(clockProblem(-7_200_000), '7200 s behind control');
});
