import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER_AT } from '#model/certificate-order.ts';
import { beginAt, renewalAt, retryAt, troubleAt } from './schedule.ts';

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

test('a certificate of 90 days is renewed 30 to 33 days before its end', () => {
  const certificate = { validFrom: 0, validTo: 90 * DAY_MS };
  assert.equal(renewalAt(certificate, 0, 0), 60 * DAY_MS);
  assert.equal(renewalAt(certificate, 0, 0.999_999_99) > 57 * DAY_MS, true);
});

test('a certificate that is almost over is not renewed at once', () => {
  assert.equal(renewalAt({ validFrom: 0, validTo: DAY_MS }, DAY_MS - 1, 0), DAY_MS - 1 + HOUR_MS);
});

test('a failed order waits an hour, then twice as long each time up to a day, and as long as the authority asks', () => {
  const trouble = { now: 0, random: 0.999_999_999, served: undefined, retryAfterMs: undefined };
  const hours = [1, 2, 3, 4, 5, 6, 7].map((failures) => retryAt(failures, trouble) / HOUR_MS);
  assert.deepEqual(hours, [1, 2, 4, 8, 16, 24, 24]);
  assert.equal(retryAt(1, { ...trouble, random: 0 }), HOUR_MS / 2);
  assert.equal(retryAt(1, { ...trouble, retryAfterMs: 5 * DAY_MS }), 5 * DAY_MS);
  assert.equal(retryAt(30, { ...trouble, retryAfterMs: 5 * DAY_MS }), NEVER_AT);
});

/** Tries of a renewal that fails each time, in hours before the end of the certificate; negative ones are after it. */
function failingRenewal(days: number, random: number): readonly number[] {
  const served = { validFrom: 0, validTo: days * DAY_MS };
  let [now, failures, dayBeganAt, dayOrders, orderedAt] = [renewalAt(served, 0, random), 0, 0, 0, 0];
  const tries: number[] = [];
  while (now < served.validTo + 31 * DAY_MS && now < NEVER_AT) {
    const at = beginAt({ dayBeganAt, dayOrders, orderedAt }, served, now);
    if (at > now) {
      now = at;
      continue;
    }
    if (now - dayBeganAt >= DAY_MS) [dayBeganAt, dayOrders] = [now, 0];
    dayOrders += 1;
    orderedAt = now;
    tries.push((served.validTo - now) / HOUR_MS);
    failures += 1;
    now = retryAt(failures, { now, random, served, retryAfterMs: undefined });
  }
  return tries;
}

for (const [days, most] of [
  [6, 30],
  [45, 60],
  [90, 90],
] as const)
  test(`a renewal that fails each time is tried more often near the end of ${days} days, and after it`, () => {
    for (const random of [0, 0.5, 0.999_999_999]) {
      const tries = failingRenewal(days, random);
      const before = tries.filter((hours) => hours > 0);
      const said = tries.map((hours) => hours.toFixed(1)).join(' ');
      assert.ok(before.length >= 10 && before.length <= most, said);
      assert.ok((before.at(-1) ?? 99) <= 1, said);
      for (const [n, hours] of tries.entries()) {
        const gap = hours - (tries[n + 1] ?? hours - 1);
        assert.ok(gap >= 0.5 && gap <= 24.1, `${gap}: ${said}`);
        assert.ok(Math.abs(hours) < 4 || gap <= Math.abs(hours) / 4 + 0.1, `${gap}: ${said}`);
      }
      assert.ok((tries.at(-1) ?? 0) < -29 * 24, said);
    }
  });

test('a suggestion of the authority is obeyed, but not beyond the end of a certificate', () => {
  const served = { validFrom: 0, validTo: 6 * DAY_MS };
  const rows: [string, number, number | undefined, number][] = [
    ['five days are left, and it asks for two', DAY_MS, 2 * DAY_MS, 2 * DAY_MS],
    ['two are left, and it asks for ten', 4 * DAY_MS, 10 * DAY_MS, DAY_MS],
    ['an hour is left, and it asks for ten days', 6 * DAY_MS - HOUR_MS, 10 * DAY_MS, HOUR_MS],
    ['it is over, and it asks for ten days', 7 * DAY_MS, 10 * DAY_MS, 10 * DAY_MS],
  ];
  for (const [name, now, retryAfterMs, afterMs] of rows)
    assert.equal(retryAt(1, { now, random: 0, served, retryAfterMs }), now + afterMs, name);
  const order = { requestedAt: 0, orderedAt: 0 };
  const away = { random: 0, served, retryAfterMs: 20 * HOUR_MS };
  assert.equal(troubleAt(order, { ...away, now: DAY_MS }), DAY_MS + 20 * HOUR_MS);
  assert.equal(troubleAt(order, { ...away, now: 6 * DAY_MS - 10 * HOUR_MS }), 6 * DAY_MS - 5 * HOUR_MS);
  assert.equal(troubleAt(order, { ...away, now: DAY_MS, retryAfterMs: 9 * DAY_MS }), 2 * DAY_MS, 'a day at most');
});

test('the orders of a day are bounded, but no certificate expires because of that', () => {
  const order = { dayBeganAt: 0, dayOrders: 5, orderedAt: 10 * HOUR_MS };
  const until = (validTo: number) => ({ validFrom: 0, validTo });
  assert.equal(beginAt({ ...order, dayOrders: 4 }, undefined, 11 * HOUR_MS), 11 * HOUR_MS);
  assert.equal(beginAt(order, undefined, 11 * HOUR_MS), DAY_MS);
  assert.equal(beginAt(order, undefined, DAY_MS), DAY_MS);
  assert.equal(beginAt(order, until(30 * DAY_MS), 11 * HOUR_MS), DAY_MS);
  assert.equal(beginAt(order, until(22 * HOUR_MS), 11 * HOUR_MS), 13 * HOUR_MS);
  assert.equal(beginAt(order, until(11 * HOUR_MS), 10.5 * HOUR_MS), 11 * HOUR_MS);
});
