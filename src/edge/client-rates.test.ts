import assert from 'node:assert/strict';
import { describe, mock, test } from 'node:test';
import fc from 'fast-check';
import { createCompileTools } from '#sites/compile-tools.ts';
import { type SiteLimit, SiteLimits } from '#sites/rate-limits.ts';
import { ClientRates, type RateCounts } from './client-rates.ts';

const ME = '192.0.2.1';

function limitOf(requests: number, seconds: number, burst = requests): SiteLimit {
  const limits = new SiteLimits(1, [{ match: 'prefix', content: '/', requests, seconds, burst }], createCompileTools());
  const limit = limits.find({ scheme: 'http', host: 'a.test', keyPath: '/', query: '' });
  assert.ok(limit !== undefined);
  return limit;
}

function start({
  workers = 1,
  seed = 's',
  tell = () => {},
}: Partial<ConstructorParameters<typeof ClientRates>[0]> = {}) {
  return new ClientRates({ seed, workers, clock: () => 0, tell });
}

describe('one worker', () => {
  test('a client has its burst at once, and then one request for each interval', () => {
    const rates = start();
    const limit = limitOf(3, 1, 2);
    const at = (now: number) => rates.take(limit, rates.clientOf(ME), now);
    assert.deepEqual([at(0), at(0), at(0)], [0, 0, 334]);
    assert.deepEqual(
      [rates.waitMs(limit, rates.clientOf(ME), 0), rates.waitMs(limit, rates.clientOf('192.0.2.2'), 0)],
      [334, 0],
    );
    assert.deepEqual([at(334), at(334), at(667), at(668)], [0, 333, 0, 332]);
    assert.deepEqual([at(10_000), at(10_000), at(10_000)], [0, 0, 334]);
  });

  test('clients are counted apart, an IPv6 client by its /64, and each limit apart', () => {
    const rates = start();
    const limit = limitOf(1, 60);
    const asked = (address: string, of = limit) => rates.take(of, rates.clientOf(address), 0) === 0;
    assert.deepEqual([asked(ME), asked('192.0.2.2'), asked(ME)], [true, true, false]);
    assert.deepEqual([asked('2001:db8::1'), asked('2001:db8::ffff:1'), asked('2001:db8:0:1::1')], [true, false, true]);
    assert.deepEqual([asked('::ffff:192.0.2.2'), asked(ME, limitOf(2, 60))], [false, true]);
  });

  test('a clock that is set back refuses a client for two bursts at most', () => {
    const rates = start();
    const limit = limitOf(60, 60, 2);
    rates.take(limit, rates.clientOf(ME), 1e9);
    assert.equal(rates.take(limit, rates.clientOf(ME), 0), 3000);
    assert.equal(rates.take(limit, rates.clientOf(ME), 3000), 0);
  });

  test('a client has what the limit says, whenever it asks', () => {
    const pauses = fc.array(fc.nat(3000), { minLength: 1, maxLength: 100 });
    const numbers = fc.tuple(
      fc.integer({ min: 1, max: 50 }),
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 20 }),
    );
    fc.assert(
      fc.property(numbers, pauses, ([requests, seconds, burst], waits) => {
        const rates = start();
        const limit = limitOf(requests, seconds, burst);
        let [now, tokens, last] = [0, burst, 0];
        for (const wait of waits) {
          now += wait;
          tokens = Math.min(burst, tokens + ((now - last) * requests) / (seconds * 1000)); // the plainest token bucket
          last = now;
          const isTaken = rates.take(limit, rates.clientOf(ME), now) === 0;
          // Half a request less is enough here, so that rounding refuses nobody.
          if (tokens >= 1) assert.ok(isTaken);
          else if (tokens < 0.49) assert.ok(!isTaken);
          if (isTaken) tokens -= 1;
        }
      }),
      { numRuns: 300, seed: 1 },
    );
  });
});

describe('a full table', () => {
  const crowd = (n: number) => Array.from({ length: n }, (_, i) => `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
  const MANY = 400_000;

  test('a crowd of addresses neither frees a client that is refused nor makes others wait', () => {
    const rates = start();
    const limit = limitOf(10, 3600);
    for (let i = 0; i < 10; i++) assert.equal(rates.take(limit, rates.clientOf(ME), 0), 0);
    assert.ok(rates.take(limit, rates.clientOf(ME), 0) > 0);
    for (const address of crowd(MANY))
      for (let i = 0; i < 2; i++) assert.equal(rates.take(limit, rates.clientOf(address), 0), 0, address);
    assert.ok(rates.uncounted > 50_000, `${rates.uncounted}`);
    assert.ok(rates.take(limit, rates.clientOf(ME), 0) > 0, 'still refused');
    // Whoever goes on asking gets a place, and is counted like the others.
    const asked = Array.from({ length: 40 }, () => rates.take(limit, rates.clientOf('203.0.113.9'), 0));
    assert.ok(asked.includes(0) && (asked.at(-1) ?? 0) > 0);
  });

  test('clients that owe nothing make room at once', () => {
    const rates = start();
    const limit = limitOf(10, 1);
    for (const address of crowd(MANY)) rates.take(limit, rates.clientOf(address), 0);
    const before = rates.uncounted;
    for (const address of crowd(1000))
      rates.take(limit, rates.clientOf(`2001:db8:${address.split('.').slice(2).join(':')}::`), 10_000);
    assert.equal(rates.uncounted, before);
  });
});

describe('several workers', () => {
  /** Workers whose messages arrive after 50 ms, and a clock for all. */
  function startWorkers(t: { mock: typeof mock }, workers: number) {
    t.mock.timers.enable({ apis: ['setTimeout'] });
    let now = 0;
    let messages = 0;
    const all: ClientRates[] = [];
    const tellFrom = (from: number) => (counts: RateCounts) => {
      messages += 1;
      all.forEach((rates, to) => {
        if (to !== from) rates.apply(JSON.parse(JSON.stringify(counts)));
      });
    };
    for (let i = 0; i < workers; i++)
      all.push(new ClientRates({ seed: 's', workers, clock: () => now, tell: tellFrom(i) }));
    return {
      take: (worker: number, limit: SiteLimit) => {
        const rates = all[worker % workers];
        return rates?.take(limit, rates.clientOf(ME), now) === 0;
      },
      advance: (ms: number) => {
        now += ms;
        t.mock.timers.tick(ms);
      },
      messages: () => messages,
    };
  }

  for (const workers of [2, 8]) {
    test(`a client of ${workers} workers gets half a burst more at most, beside what it asks for within 50 ms`, (t) => {
      const service = startWorkers(t, workers);
      const limit = limitOf(100, 60);
      let taken = 0;
      for (let asked = 0; asked < 1000; asked++) {
        if (service.take(asked, limit)) taken += 1;
        service.advance(10);
      }
      const earned = 100 + (10 * 100) / 60;
      assert.ok(taken >= earned - 2, `only ${taken}`);
      assert.ok(taken <= earned + 50 + 5, `${taken}`);
    });
  }

  test('what goes beyond a limit at once is paid back later', (t) => {
    const service = startWorkers(t, 4);
    const limit = limitOf(60, 60, 10);
    let taken = 0;
    for (let asked = 0; asked < 400; asked++) if (service.take(asked, limit)) taken += 1;
    assert.equal(taken, 40, 'each has a burst before it hears of the others');
    service.advance(60);
    for (let second = 0; second < 9; second++) {
      service.advance(1000);
      assert.ok(!service.take(second, limit), `in second ${second}`);
    }
  });

  test('a client that stays below its rate costs no message, and is never refused', (t) => {
    const service = startWorkers(t, 4);
    const limit = limitOf(60, 60, 20);
    for (let asked = 0; asked < 500; asked++) {
      assert.ok(service.take(asked, limit));
      service.advance(1100);
    }
    assert.equal(service.messages(), 0);
  });

  test('connections of one worker alone have the whole limit', (t) => {
    const service = startWorkers(t, 4);
    const limit = limitOf(60, 60, 20);
    const taken = Array.from({ length: 30 }, () => service.take(0, limit)).filter(Boolean);
    assert.equal(taken.length, 20);
  });

  test('clients of other seeds share no place by chance', () => {
    const told: RateCounts[] = [];
    const [one, other] = ['a', 'b'].map((seed) => start({ seed, tell: (counts) => void told.push(counts) }));
    assert.ok(one !== undefined && other !== undefined);
    mock.timers.enable({ apis: ['setTimeout'] });
    one.take(limitOf(1, 60), one.clientOf(ME), 0);
    mock.timers.tick(50);
    mock.timers.reset();
    assert.equal(told.length, 1);
    other.apply(told[0] ?? []);
    assert.equal(other.take(limitOf(1, 60), other.clientOf(ME), 0), 0);
  });
});
