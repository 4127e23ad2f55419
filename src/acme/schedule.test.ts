import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NEVER_AT } from '#model/certificate-order.ts';
import { renewalAt, retryAt } from './schedule.ts';

const DAY_MS = 24 * 3_600_000;
const HOUR_MS = 3_600_000;

test('a certificate of 90 days is renewed 30 to 33 days before its end', () => {
  const certificate = { validFrom: 0, validTo: 90 * DAY_MS };
  assert.equal(renewalAt(certificate, 0, 0), 60 * DAY_MS);
  assert.equal(renewalAt(certificate, 0, 0.999_999_99) > 57 * DAY_MS, true);
});

test('one that is almost over is not renewed at once', () => {
  assert.equal(renewalAt({ validFrom: 0, validTo: DAY_MS }, DAY_MS - 1, 0), DAY_MS - 1 + HOUR_MS);
});

test('after failures it waits an hour, then twice as long each time up to a day, and as long as the authority asks', () => {
  const hours = [1, 2, 3, 4, 5, 6, 7].map((failures) => retryAt(failures, 0, 0.999_999_999) / HOUR_MS);
  assert.deepEqual(hours, [1, 2, 4, 8, 16, 24, 24]);
  assert.equal(retryAt(1, 0, 0), HOUR_MS / 2);
  assert.equal(retryAt(1, 0, 0, 5 * DAY_MS), 5 * DAY_MS);
  assert.equal(retryAt(30, 0, 0, 5 * DAY_MS), NEVER_AT);
});
