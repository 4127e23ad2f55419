/** Series of statistics, the traffic of the last minutes and the domains on top, over HTTP on both engines. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Counters, noCounters } from '#logs/counters.ts';
import { writeLiveAnswer } from '#logs/live-answer.ts';
import { RecentCounts } from '#logs/recent-counts.ts';
import { START } from '../support/api/api.ts';
import { add, type CallAs, dataOf, startWithCustomers } from '../support/api/customers.ts';
import { askScriptedEdge } from '../support/api/scripted-edge.ts';
import { describeOnBothEngines } from '../support/db/databases.ts';
import { createTestTraffic } from '../support/logs/traffic.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

interface Series {
  readonly interval: string;
  readonly complete_until: number;
  readonly times: readonly number[];
  readonly series: readonly {
    readonly domain_id: string;
    readonly domain_name: string;
    readonly metric: string;
    readonly values: readonly (number | null)[];
    readonly before?: readonly (number | null)[];
  }[];
}

interface Live {
  readonly interval_seconds: number;
  readonly complete_until: number;
  readonly missing_edges: number;
  readonly list: readonly { readonly at: number; readonly requests: number }[];
}

async function seriesOf(call: CallAs, request: object): Promise<Series> {
  // `as`: of this shape, or the comparisons fail.
  return dataOf(await call('stat.series', { ...request })) as unknown as Series;
}

const hours = (from: number, to: number) => ({ interval: 'hour', starttime: from / 1000, endtime: to / 1000 });

describeOnBothEngines('series of statistics', (newDatabase) => {
  test('several metrics have their values at the same times, of the account, of domains and of statuses', async (t) => {
    const { api, me, mine, theirs } = await startWithCustomers(t, newDatabase);
    const [one, two] = [await add(mine, 'one.example'), await add(mine, 'two.example')];
    const foreign = await add(theirs, 'foreign.example');
    const traffic = createTestTraffic(t, api.db);
    const at = START + 3 * HOUR_MS;
    api.now = at + HOUR_MS;
    await traffic.addCounts(Number(one), at, { requests: 4, hits: 3, bytesOut: 100, status2xx: 3, status5xx: 1 });
    await traffic.addCounts(Number(two), at + HOUR_MS, { requests: 1, bytesOut: 7, status4xx: 1 });
    await traffic.addCounts(Number(foreign), at, { requests: 99 });
    const range = hours(at - HOUR_MS, at + HOUR_MS);
    const all = await seriesOf(mine, { ...range, metrics: ['requests', 'bytes_out', 'hit_ratio'] });
    assert.deepEqual(all.times, [at - HOUR_MS, at, at + HOUR_MS]);
    assert.deepEqual(
      all.series.map(({ metric, values, domain_id }) => [metric, domain_id, ...values]),
      [
        ['requests', '', 0, 4, 1],
        ['bytes_out', '', 0, 100, 7],
        ['hit_ratio', '', null, 0.75, 0],
      ],
    );
    assert.equal(all.complete_until, api.now - MINUTE_MS);
    const each = await seriesOf(mine, { ...range, metrics: ['requests'], domain_ids: [two, one], by: 'domain' });
    assert.deepEqual(
      each.series.map(({ domain_name, values }) => [domain_name, ...values]),
      [
        ['two.example', 0, 0, 1],
        ['one.example', 0, 4, 0],
      ],
    );
    const statuses = await seriesOf(mine, { ...range, metrics: ['requests'], domain_ids: [one], by: 'status' });
    assert.deepEqual(
      statuses.series.map(({ metric, values }) => [metric, values[1]]),
      [
        ['status_2xx', 3],
        ['status_3xx', 0],
        ['status_4xx', 0],
        ['status_5xx', 1],
      ],
    );
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(two)] });
    const asLimited: CallAs = (name, request) => api.call(name, limited, request);
    const own = await seriesOf(asLimited, { ...range, metrics: ['requests'] });
    assert.deepEqual(own.series[0]?.values, [0, 0, 1], 'a limited token has the sums of its domains');
    for (const [call, domain_ids] of [
      [mine, [one, foreign]],
      [asLimited, [one]],
    ] as const)
      assert.equal((await call('stat.series', { metrics: ['requests'], domain_ids })).errorCode, 'domainNotFound');
  });

  test('values of an earlier time stand at the same places, and a range has at most 1500 points', async (t) => {
    const { api, mine } = await startWithCustomers(t, newDatabase);
    const id = Number(await add(mine, 'one.example'));
    const traffic = createTestTraffic(t, api.db);
    const at = START + 8 * DAY_MS;
    api.now = at + HOUR_MS;
    for (const [when, requests] of [
      [at, 5],
      [at - 7 * DAY_MS, 3],
      [at - 7 * DAY_MS + HOUR_MS, 2],
    ] as const)
      await traffic.addCounts(id, when, { requests });
    const request = { metrics: ['requests'], shift: (7 * DAY_MS) / 1000 };
    const shifted = await seriesOf(mine, { ...request, ...hours(at, at + HOUR_MS) });
    assert.deepEqual(
      [shifted.series[0]?.values, shifted.series[0]?.before],
      [
        [5, 0],
        [3, 2],
      ],
    );
    const days = { interval: 'day', starttime: at / 1000, endtime: at / 1000 };
    assert.deepEqual((await seriesOf(mine, { ...request, ...days })).series[0]?.before, [5]);
    const intervalOf = async (spanMs: number, points?: number) =>
      (
        await seriesOf(mine, {
          metrics: ['requests'],
          starttime: (api.now - spanMs) / 1000,
          ...(points !== undefined && { points }),
        })
      ).interval;
    assert.deepEqual(
      [await intervalOf(HOUR_MS), await intervalOf(DAY_MS), await intervalOf(DAY_MS, 1500)],
      ['minute', 'hour', 'minute'],
    );
    assert.deepEqual([await intervalOf(40 * DAY_MS), await intervalOf(DAY_MS, 2)], ['day', 'day']);
    const tooLong = { metrics: ['requests'], interval: 'minute', starttime: (api.now - 2 * DAY_MS) / 1000 };
    const refused = await mine('stat.series', tooLong);
    assert.equal(refused.errorCode, 'seriesTooLong');
    assert.match(String(refused.body['info']), /has 2881 points: expected at most 1500/);
    for (const [wrong, code] of [
      [{ metrics: [] }, 'fieldInvalid'],
      [{}, 'fieldMissing'],
      [{ metrics: ['requests'], by: 'domain' }, 'fieldMissing'],
      [{ metrics: ['requests'], points: 1501 }, 'fieldInvalid'],
      [{ metrics: ['requests'], shift: 0 }, 'fieldInvalid'],
      [{ metrics: ['requests'], domain_ids: Array.from({ length: 21 }, (_, n) => n + 1) }, 'fieldInvalid'],
      [{ metrics: ['requests'], starttime: 9, endtime: 8 }, 'timeRangeReversed'],
    ] as const)
      assert.equal((await mine('stat.series', wrong)).errorCode, code, JSON.stringify(wrong));
  });

  test('the traffic of the last minutes is that of the account, or of a domain', async (t) => {
    const { api, mine, theirs } = await startWithCustomers(t, newDatabase);
    const [one, two] = [await add(mine, 'one.example'), await add(mine, 'two.example')];
    const traffic = createTestTraffic(t, api.db);
    await traffic.addCounts(Number(one), api.now, { requests: 2, status5xx: 2 });
    await traffic.addCounts(Number(two), api.now - MINUTE_MS, { requests: 1, hits: 1, bytesOut: 9 });
    await traffic.addCounts(Number(two), api.now - 6 * MINUTE_MS, { requests: 50 });
    const live = async (request: object) => {
      const { list } = dataOf(await mine('stat.live', { ...request }));
      return Object.values(Object(list)).map((point) => [Object(point).requests, Object(point).status_5xx]);
    };
    const quiet = [0, 0];
    assert.deepEqual(await live({}), [quiet, quiet, quiet, quiet, [1, 0], [2, 2]]);
    assert.deepEqual(await live({ domain_id: one }), [quiet, quiet, quiet, quiet, quiet, [2, 2]]);
    assert.equal((await theirs('stat.live', { domain_id: one })).errorCode, 'domainNotFound');
  });

  test('edges tell the traffic by ten seconds; those that are silent are counted, and too much is told by minute', async (t) => {
    const recent = new RecentCounts(START - 10 * MINUTE_MS);
    const asked: unknown[] = [];
    let isFull = false;
    const asks = askScriptedEdge((content) => {
      const { kind, domainIds, last } = Object(content);
      if (kind !== 'live') return [];
      asked.push(content);
      const sums = isFull ? undefined : recent.sumUp(domainIds, last);
      return [{ live: sums ? writeLiveAnswer(sums) : null }];
    });
    const { api, mine } = await startWithCustomers(t, newDatabase, { asks });
    const [one, two] = [await add(mine, 'one.example'), await add(mine, 'two.example')];
    const count = (id: string, ago: number, counts: Partial<Counters>) => {
      const at = START - ago;
      const minute = Math.floor(at / MINUTE_MS);
      recent.add([{ ...noCounters(), ...counts, domainId: Number(id), minute }], at);
    };
    count(one, 40_000, { requests: 7, hits: 7 });
    count(one, 20_000, { requests: 4, hits: 3, bytesOut: 9, status5xx: 1 });
    count(two, 20_000, { requests: 1 });
    count(two, 5_000, { requests: 50 });
    // `as`: of this shape, or the comparisons fail.
    const live = async (request: object) => dataOf(await mine('stat.live', { ...request })) as unknown as Live;
    assert.equal((await live({ domain_id: two })).interval_seconds, 60, 'no edge is there');
    await api.acknowledge('local');
    const all = await live({});
    assert.deepEqual([all.interval_seconds, all.complete_until, all.missing_edges], [10, START - 10_000, 0]);
    assert.equal(all.list.length, 30);
    assert.deepEqual(
      all.list.slice(-3).map(({ requests }) => requests),
      [7, 0, 5],
    );
    const point = { at: START - 20_000, requests: 4, hits: 3, bytes_out: 9, status_4xx: 0, status_5xx: 1 };
    assert.deepEqual((await live({ domain_id: one })).list.at(-1), point);
    const before = asked.length;
    await Promise.all([live({}), live({ domain_id: one })]);
    assert.equal(asked.length, before, 'who asks for the same shares the answer');
    await api.acknowledge('silent');
    api.now += 10_000;
    const part = await live({});
    assert.deepEqual([part.missing_edges, part.list.at(-1)?.requests], [1, 50]);
    isFull = true;
    api.now += 10_000;
    assert.equal((await live({})).interval_seconds, 60, 'an edge has too much to count');
  });

  test('domains are sorted by what they have sent, and counted once in a minute', async (t) => {
    const { api, me, mine } = await startWithCustomers(t, newDatabase);
    const [one, two, three] = [
      await add(mine, 'one.example'),
      await add(mine, 'two.example'),
      await add(mine, 'three.example'),
    ];
    const traffic = createTestTraffic(t, api.db);
    await traffic.addCounts(Number(one), api.now, { requests: 9, bytesOut: 10 });
    await traffic.addCounts(Number(two), api.now, { requests: 1, bytesOut: 50 });
    api.now += 3 * DAY_MS;
    await traffic.addCounts(Number(three), api.now, { requests: 2, bytesOut: 20 });
    const top = async (request: object, call: CallAs = mine) => {
      const { list } = dataOf(await call('stat.topDomains', { ...request }));
      return Object.values(Object(list)).map((row) => Object(row).domain_name);
    };
    assert.deepEqual(await top({}), ['three.example']);
    assert.deepEqual(await top({ span: '7d' }), ['two.example', 'three.example', 'one.example']);
    assert.deepEqual(await top({ span: '30d', sort: 'requests', limit: 2 }), ['one.example', 'three.example']);
    await traffic.addCounts(Number(one), api.now, { requests: 9, bytesOut: 100 });
    assert.deepEqual(await top({}), ['three.example']);
    api.now += MINUTE_MS;
    assert.deepEqual(await top({}), ['one.example', 'three.example']);
    const limited = await api.issue(me.accountId, { scopes: ['cdn'], domainIds: [Number(three)] });
    assert.deepEqual(await top({}, (name, request) => api.call(name, limited, request)), ['three.example']);
  });

  test('a domain that is transferred leaves its past with the account that had it', async (t) => {
    const { api, me, other, mine, theirs, operate } = await startWithCustomers(t, newDatabase);
    const id = await add(mine, 'one.example');
    const traffic = createTestTraffic(t, api.db);
    await traffic.addCounts(Number(id), api.now, { requests: 4 });
    await operate('operator.transferDomain', {
      account_id: me.accountId,
      domain_id: id,
      to_account_id: other.accountId,
    });
    await traffic.addCounts(Number(id), api.now, { requests: 1 });
    const request = { metrics: ['requests'], ...hours(START, START) };
    const sumOf = async (call: CallAs) => (await seriesOf(call, request)).series[0]?.values;
    assert.deepEqual([await sumOf(mine), await sumOf(theirs)], [[4], [1]]);
  });
});
