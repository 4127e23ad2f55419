/** Renewals as an authority suggests them (RFC 9773): Pebble, with a script before it that says when. */
import assert from 'node:assert/strict';
import { X509Certificate } from 'node:crypto';
import { test } from 'node:test';
import { readRenewalInfo } from '#acme/resources.ts';
import { nextInfoMs, suggestedRenewalAt } from '#acme/schedule.ts';
import { renewalIdOf } from '#model/certificate-extensions.ts';
import { startAcmeWorld } from '../support/certificates/acme.ts';
import { refusal, renewalInfo, scriptRenewals } from '../support/certificates/renewal-info.ts';
import { newSqlite } from '../support/db/databases.ts';
import { needs } from '../support/runner/needs.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** RFC 9773, appendix A. */
const EXAMPLE = `-----BEGIN CERTIFICATE-----
MIIBQzCB66ADAgECAgUAh2VDITAKBggqhkjOPQQDAjAVMRMwEQYDVQQDEwpFeGFt
cGxlIENBMCIYDzAwMDEwMTAxMDAwMDAwWhgPMDAwMTAxMDEwMDAwMDBaMBYxFDAS
BgNVBAMTC2V4YW1wbGUuY29tMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAEeBZu
7cbpAYNXZLbbh8rNIzuOoqOOtmxA1v7cRm//AwyMwWxyHz4zfwmBhcSrf47NUAFf
qzLQ2PPQxdTXREYEnKMjMCEwHwYDVR0jBBgwFoAUaYhba4dGQEHhs3uEe6CuLN4B
yNQwCgYIKoZIzj0EAwIDRwAwRAIge09+S5TZAlw5tgtiVvuERV6cT4mfutXIlwTb
+FYN/8oCIClDsqBklhB9KAelFiYt9+6FDj3z4KGVelYM5MdsO3pK
-----END CERTIFICATE-----
`;

test("the renewal id of a certificate is its issuer's key id and its serial number", () => {
  assert.equal(renewalIdOf(new X509Certificate(EXAMPLE)), 'aYhba4dGQEHhs3uEe6CuLN4ByNQ.AIdlQyE');
});

test('a renewal suggestion is a window and when to ask again; anything else is not one', () => {
  const [from, to] = ['2025-01-02T04:00:00Z', '2025-01-03T04:00:00Z'];
  assert.deepEqual(readRenewalInfo(renewalInfo(from, to), 0), {
    window: { from: Date.parse(from), to: Date.parse(to) },
    retryAfterMs: 6 * HOUR_MS,
  });
  for (const wrong of [renewalInfo(to, from), renewalInfo(from, from), renewalInfo('soon', to), refusal(200, 'x')])
    assert.throws(() => readRenewalInfo(wrong, 0), /its response is not what RFC 9773 says: suggestedWindow/);
  const rows = [undefined, 0, 59_000, 61_000, 2 * DAY_MS].map(nextInfoMs);
  assert.deepEqual(rows, [6 * HOUR_MS, 60_000, 60_000, 61_000, DAY_MS]);
});

test('the instant of renewal lies in the window, stays while the window does, and is never too late or too soon', () => {
  const served = { validFrom: 0, validTo: 100 * DAY_MS };
  const order = { renewAt: 70 * DAY_MS, renewalWindow: undefined, orderedAt: 0 };
  const window = { from: 60 * DAY_MS, to: 62 * DAY_MS };
  const at = (more: object, of = window, random = 0.25) =>
    suggestedRenewalAt(of, { ...order, ...more }, served, random) / DAY_MS;
  assert.equal(at({}), 60.5);
  assert.equal(at({}, window, 0), 60);
  assert.ok(at({}, window, 0.999) < 62);
  assert.equal(at({ renewAt: 61 * DAY_MS, renewalWindow: { ...window } }), 61, 'it was chosen before');
  assert.equal(at({ renewAt: 61 * DAY_MS, renewalWindow: { from: 0, to: 1 } }), 60.5, 'of another window');
  assert.equal(at({}, { from: 99 * DAY_MS, to: 120 * DAY_MS }), 95, 'the last twentieth is for more tries');
  assert.equal(at({ orderedAt: 80 * DAY_MS }), 80 + 1 / 24, 'an hour after the last order');
});

const BOUND = needs('pebble', 'openssl', { timeout: 180_000 });

test(
  'a certificate is renewed when the authority suggests it, with an order that names it as replaced',
  BOUND,
  async (t) => {
    const world = await startAcmeWorld(t, newSqlite, { nonceReject: 0 });
    const time = (at: number) => new Date(at).toISOString();
    const start = world.now;
    const script = scriptRenewals(renewalInfo(time(start + 10 * DAY_MS), time(start + 12 * DAY_MS)));
    world.renewals = script;
    await world.request();
    const first = await world.run();
    assert.equal(first.dueAt, world.now + 6 * HOUR_MS);
    const usual = first.renewAt;
    assert.ok(usual > first.dueAt);
    const [pair] = (await world.resources('certificate')).values() as Iterable<{ certificate: string }>;
    const renewalId = renewalIdOf(new X509Certificate(pair?.certificate ?? ''));
    const again = async (at: number) => {
      world.now = at;
      await world.round();
      return (await world.order()) ?? first;
    };

    script.info = refusal(404, 'malformed');
    const unknown = await again(first.dueAt);
    assert.deepEqual([unknown.state, unknown.problem, unknown.renewAt], ['issued', undefined, usual]);
    assert.equal(unknown.dueAt, world.now + 6 * HOUR_MS, 'without an answer the lifetime counts');
    script.info = renewalInfo(time(start + 10 * DAY_MS), time(start + 12 * DAY_MS), '7200');
    const suggested = await again(unknown.dueAt);
    assert.equal(suggested.renewAt, start + 11 * DAY_MS, 'the middle: that is the random number of this world');
    assert.equal(suggested.dueAt, world.now + 2 * HOUR_MS);
    assert.deepEqual(new Set(script.asked), new Set([renewalId]));

    script.info = renewalInfo(time(start - DAY_MS), time(start)); // it is to be revoked
    const hurried = await again(suggested.dueAt);
    assert.match(hurried.state, /^(pending|challenged)$/, 'its time has passed, so it is renewed at once');
    const second = await world.run();
    assert.notEqual(second.sslKey, first.sslKey);
    assert.deepEqual(script.replaced, [undefined, renewalId]);
    assert.equal(second.renewalWindow, undefined);

    script.isReplacing = false;
    assert.notEqual((await again(second.dueAt)).state, 'issued', 'its window has passed too');
    assert.equal((await world.run()).state, 'issued');
    assert.equal(script.replaced.length, 4, 'refused as one that replaces, it was begun as another');
    assert.equal(script.replaced.at(-1), undefined);
  },
);
