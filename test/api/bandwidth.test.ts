/** The bandwidth of a month by which traffic is billed, over HTTP on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDays } from '#logs/day.ts';
import { START } from '../support/api/api.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';

const FIVE_MS = 300_000;
const DAY_MS = 86_400_000;
const DAYS = createDays('Asia/Shanghai');
const MONTH = DAYS.dayOf(START + 40 * DAY_MS).slice(0, 7);
const FROM = DAYS.startOf(`${MONTH}-01`);

/** Bytes of a sample of so many Mbit/s. */
const mbit = (mbps: number) => (mbps * 1e6 * 300) / 8;

describeOnBothEngines('bandwidth of a month', (newDatabase) => {
  test('the figure is the highest sample that is left when the highest five percent are dropped', async (t) => {
    const { api, me, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const [one, two] = [await add(mine, 'one.example'), await add(mine, 'two.example')];
    const traffic = createTestTraffic(t, api.db);
    // 100 samples are over: the highest 5 are dropped, and the sixth counts.
    api.now = FROM + 100 * FIVE_MS + 180_000;
    for (let n = 0; n < 10; n++) {
      const at = FROM + n * 7 * FIVE_MS;
      await traffic.addCounts(Number(one), at + 60_000, { bytesOut: mbit(10 * (n + 1)) });
      await traffic.addCounts(Number(one), at + 299_999, { bytesOut: mbit(1) });
    }
    await traffic.addCounts(Number(two), FROM, { bytesOut: mbit(500) });
    const read = async (request: object, call: CallAs = mine): Promise<Record<string, unknown>> => {
      const { bits_per_second, peak_bits_per_second, ...rest } = dataOf(await call('stat.bandwidth', { ...request }));
      return { ...rest, mbps: [bits_per_second, peak_bits_per_second].map((rate) => Number(rate) / 1e6) };
    };
    const all = await read({});
    assert.deepEqual(
      [all['mbps'], all['samples'], all['dropped'], all['complete'], all['peak_at'], all['month'], all['from']],
      // Both domains together have 511 in the first sample, then 101, 91, 81, 71 and 61.
      [[61, 511], 100, 5, '0', FROM, MONTH, FROM],
    );
    assert.equal(all['bytes_out'], mbit(550 + 10 + 500));
    assert.deepEqual((await read({ domain_ids: [one] }))['mbps'], [51, 101]);
    assert.deepEqual((await read({ domain_ids: [two] }))['mbps'], [0, 500], 'samples without traffic are 0');
    assert.deepEqual((await read({}, theirs))['mbps'], [0, 0]);
    const operator = dataOf(await operate('operator.getBandwidth', { account_id: me.accountId }));
    assert.equal(operator['bits_per_second'], 61e6);
    assert.equal((await theirs('stat.bandwidth', { domain_ids: [one] })).errorCode, 'domainNotFound');
  });

  test('a month that is over has all its samples; one that is not kept whole is refused', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'one.example');
    const traffic = createTestTraffic(t, api.db);
    const to = DAYS.startOf(DAYS.dayOf(FROM + 31.5 * DAY_MS).replace(/\d\d$/, '01'));
    await traffic.addCounts(Number(id), to - 1, { bytesOut: mbit(1) });
    await traffic.addCounts(Number(id), to, { bytesOut: mbit(9) });
    api.now = to + 10 * DAY_MS;
    const data = dataOf(await mine('stat.bandwidth', { month: MONTH }));
    const samples = (to - FROM) / FIVE_MS;
    assert.deepEqual(
      [data['complete'], data['samples'], data['dropped'], data['peak_bits_per_second'], data['bytes_out'], data['to']],
      ['1', samples, Math.floor(samples / 20), 1e6, mbit(1), to],
    );
    const later = DAYS.dayOf(to + 45 * DAY_MS).slice(0, 7);
    const early = DAYS.dayOf(FROM - 40 * DAY_MS).slice(0, 7);
    for (const [request, code] of [
      [{ month: later }, 'monthNotKept'],
      [{ month: early, domain_ids: [id] }, 'monthNotKept'],
      [{ month: '2026-13' }, 'fieldInvalid'],
      [{ month: '2026' }, 'fieldInvalid'],
    ] as const)
      assert.equal((await mine('stat.bandwidth', request)).errorCode, code, JSON.stringify(request));
    assert.equal(
      (await mine('stat.bandwidth', { month: early })).errorCode,
      undefined,
      'sums of accounts are kept longer',
    );
  });

  test('a month with traffic from before the update that brought samples is refused, and no other', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const [id, other] = [await add(mine, 'one.example'), await add(theirs, 'two.example')];
    const traffic = createTestTraffic(t, api.db);
    const next = DAYS.startOf(DAYS.dayOf(FROM + 31.5 * DAY_MS).replace(/\d\d$/, '01'));
    for (const at of [FROM + DAY_MS, FROM + 20 * DAY_MS, next])
      await traffic.addCounts(Number(id), at, { bytesOut: 9 });
    await traffic.addCounts(Number(other), FROM + 20 * DAY_MS, { bytesOut: 9 });
    // The update found the minutes of seven days.
    for (const table of ['stat_sum', 'stat_account'] as const)
      await api.db.query
        .deleteFrom(table)
        .where('grain', '=', 'five')
        .where('at', '<', FROM + 13 * DAY_MS)
        .execute();
    api.now = next + DAY_MS;
    const code = async (call: CallAs, request: object) => (await call('stat.bandwidth', { ...request })).errorCode;
    assert.equal(await code(mine, { month: MONTH }), 'monthNotWhole');
    assert.equal(await code(mine, { month: MONTH, domain_ids: [id] }), 'monthNotWhole');
    assert.equal(await code(theirs, { month: MONTH }), undefined, 'it had no traffic before');
    assert.equal(await code(mine, {}), undefined, 'the month after');
  });
});
