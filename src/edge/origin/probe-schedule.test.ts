import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { createProbeSchedule, type ProbeTarget } from './probe-schedule.ts';

const EVERY = 2_500;

describe('the schedule of probes', () => {
  test('an origin in use is probed every 2.5 s, by a monitor URL every 10 s, first at a random moment', () => {
    for (const [target, every] of [
      [at('a:80'), EVERY],
      [monitored('a:80'), 10_000],
    ] as const) {
      const schedule = createProbeSchedule(() => 0.5);
      schedule.note({ target, isPassedOver: false }, 0);
      assert.deepEqual(schedule.take(every / 2 - 1, 10), []);
      assert.deepEqual(schedule.take(every / 2, 10), [target]);
      assert.deepEqual(schedule.take(60_000, 10), []); // in flight
      schedule.settle(target.key, 'up', 60_000);
      assert.deepEqual(schedule.take(60_000 + every - 1, 10), []);
      assert.deepEqual(schedule.take(60_000 + every, 10), [target]);
    }
  });

  test('the interval differs by a tenth either way', () => {
    for (const [chance, factor] of [
      [0, 0.9],
      [1, 1.1],
    ] as const) {
      const schedule = createProbeSchedule(() => chance);
      schedule.note({ target: at('a:80'), isPassedOver: true }, 0);
      schedule.take(0, 10);
      schedule.settle('a:80', 'up', 0);
      assert.deepEqual(schedule.take(EVERY * factor - 1, 10), []);
      assert.equal(schedule.take(EVERY * factor + 1, 10).length, 1);
    }
  });

  test('three failures in a row are down, the first success is up, and each is reported once', () => {
    const schedule = createProbeSchedule(() => 0);
    schedule.note({ target: at('a:80'), isPassedOver: false }, 0);
    const outcomes = ['down', 'down', 'up', 'down', 'unclear', 'down', 'down', 'down', 'up'] as const;
    const told = outcomes.map((outcome, i) => {
      schedule.settle('a:80', outcome, i * 500);
      return schedule.takeReport(i * 500)?.down;
    });
    const none = undefined;
    assert.deepEqual(told, [none, none, none, none, none, none, ['a:80'], none, []]);
    assert.equal(schedule.downCount, 0);
  });

  test('an origin that workers skip is probed at once, and its first success is reported', () => {
    const schedule = createProbeSchedule(() => 0.9);
    schedule.note({ target: at('a:80'), isPassedOver: false }, 0);
    schedule.note({ target: monitored('a:80'), isPassedOver: true }, 1);
    assert.deepEqual(schedule.take(1, 10), [monitored('a:80')]);
    schedule.settle(monitored('a:80').key, 'down', 2);
    schedule.note({ target: monitored('a:80'), isPassedOver: false }, 2); // by another worker
    assert.equal(schedule.takeReport(2), undefined);
    schedule.settle(monitored('a:80').key, 'up', 3);
    assert.deepEqual(schedule.takeReport(3), { down: [], up: ['a:80'] });
    schedule.settle(monitored('a:80').key, 'up', 4);
    assert.equal(schedule.takeReport(4), undefined);
  });

  test('changes within half a second are reported together', () => {
    const schedule = createProbeSchedule(() => 0);
    for (const key of ['a:80', 'b:80', 'c:80']) schedule.note({ target: at(key), isPassedOver: false }, 0);
    const fail = (key: string) => Array.from({ length: 3 }, () => schedule.settle(key, 'down', 0));
    fail('a:80');
    assert.deepEqual(schedule.takeReport(0)?.down, ['a:80']);
    fail('b:80');
    assert.equal(schedule.takeReport(499), undefined);
    fail('c:80');
    assert.deepEqual(schedule.takeReport(500)?.down, ['a:80', 'b:80', 'c:80']);
  });

  test('an origin that is down is reported again every 10 s', () => {
    const schedule = createProbeSchedule(() => 0);
    schedule.note({ target: at('a:80'), isPassedOver: false }, 0);
    for (let i = 0; i < 3; i++) schedule.settle('a:80', 'down', 0);
    assert.deepEqual(schedule.takeReport(0)?.down, ['a:80']);
    assert.equal(schedule.takeReport(9_999), undefined);
    assert.deepEqual(schedule.takeReport(10_000), { down: ['a:80'], up: [] });
  });

  test('an origin is forgotten five minutes after its last use, down or not', () => {
    const schedule = createProbeSchedule(() => 0);
    schedule.note({ target: at('a:80'), isPassedOver: false }, 0);
    schedule.note({ target: at('b:80'), isPassedOver: false }, 1);
    for (let i = 0; i < 3; i++) schedule.settle('a:80', 'down', 0);
    schedule.takeReport(0);
    assert.deepEqual(schedule.take(300_000, 10), [at('b:80')]);
    assert.deepEqual([schedule.size, schedule.takeReport(300_000)?.down], [1, []]);
    schedule.settle('a:80', 'down', 300_000); // was in flight
    assert.equal(schedule.size, 1);
  });

  test('an address that the guard refuses is reported once, and listed until it is permitted', () => {
    const schedule = createProbeSchedule(() => 0);
    schedule.note({ target: at('a:80'), isPassedOver: false }, 0);
    schedule.note({ target: at('b:80'), isPassedOver: false }, 0);
    for (let i = 0; i < 3; i++) schedule.settle('b:80', 'down', 0);
    const become = (outcome: 'forbidden' | 'unclear' | 'up') => schedule.settle('a:80', outcome, 0);
    assert.deepEqual(
      [become('forbidden'), become('forbidden'), become('unclear')],
      ['forbidden', undefined, undefined],
    );
    const down = { key: 'b:80', state: 'down' };
    assert.deepEqual(schedule.listTroubles(10), [down, { key: 'a:80', state: 'forbidden' }]);
    assert.deepEqual(schedule.listTroubles(1), [down]);
    assert.deepEqual(schedule.takeReport(0)?.down, ['b:80'], 'workers ask the guard themselves');
    become('up');
    assert.deepEqual(schedule.listTroubles(10), [down]);
  });

  test('concurrent probes are bounded; those that have waited longest come first', () => {
    const schedule = createProbeSchedule(() => 0);
    for (let i = 0; i < 50; i++) schedule.note({ target: at(`h${i}:80`), isPassedOver: false }, 50 - i);
    const taken = [...schedule.take(100, 20), ...schedule.take(100, 20), ...schedule.take(100, 20)];
    assert.equal(taken.length, 50);
    assert.deepEqual([taken[0]?.key, taken[49]?.key], ['h49:80', 'h0:80']);
  });

  test('the origin used longest ago makes room beyond ten thousand', () => {
    const schedule = createProbeSchedule(() => 0);
    for (let i = 0; i < 10_000; i++) schedule.note({ target: at(`h${i}:80`), isPassedOver: false }, i);
    schedule.note({ target: at('h0:80'), isPassedOver: false }, 10_000);
    schedule.note({ target: at('new:80'), isPassedOver: false }, 10_001);
    const keys = new Set(schedule.take(20_000, 20_000).map(({ key }) => key));
    assert.deepEqual(
      [keys.size, keys.has('h0:80'), keys.has('h1:80'), keys.has('new:80')],
      [10_000, true, false, true],
    );
  });
});

function at(key: string): ProbeTarget {
  return { key, destination: { host: key, port: 80, isAddress: false, serverName: undefined } };
}

function monitored(address: string): ProbeTarget {
  return { ...at(`${address} http://h/status`), request: { host: 'h', target: '/status' } };
}
