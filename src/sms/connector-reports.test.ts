import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ConnectorReports, type ReportedLine } from './connector-reports.ts';

const LINE: ReportedLine = {
  id: 7,
  name: 'carrier',
  state: 'bound',
  isUp: true,
  isReceiving: true,
  inFlight: 3,
  misconfigured: undefined,
};

test('a report says since when the connector can send and receive, each by itself', () => {
  const clock = { now: 1_000 };
  const reports = new ConnectorReports(() => clock.now);
  const see = (line: Partial<ReportedLine>) => {
    const lines = [{ ...LINE, ...line }];
    reports.note(lines);
    const { connectorId: _, rate: __, inFlight: ___, ...report } = reports.of(lines)[0] ?? { connectorId: 0 };
    clock.now += 1_000;
    return report;
  };
  assert.deepEqual(see({ state: 'connecting', isUp: false, isReceiving: false }), { state: 'connecting' });
  assert.deepEqual(see({ isReceiving: false }), { state: 'bound', sendsSince: 2_000 });
  assert.deepEqual(see({}), { state: 'bound', sendsSince: 2_000, receivesSince: 3_000 });
  assert.deepEqual(see({ state: 'paused' }), { state: 'paused', sendsSince: 2_000, receivesSince: 3_000 });
  assert.deepEqual(see({ isUp: false }), { state: 'bound', receivesSince: 3_000 });
  assert.deepEqual(see({}), { state: 'bound', sendsSince: 6_000, receivesSince: 3_000 }, 'another session');
  reports.note([]);
  assert.deepEqual(see({}), { state: 'bound', sendsSince: 7_000, receivesSince: 7_000 }, 'opened anew');
});

test('the rate is that of the last ten seconds, and 0 before there are two samples', () => {
  const clock = { now: 0 };
  const reports = new ConnectorReports(() => clock.now);
  const rate = () => reports.of([LINE])[0]?.rate;
  reports.sample(new Map([['carrier', 100]]));
  assert.equal(rate(), 0);
  for (let n = 1; n <= 40; n += 1) {
    clock.now += 500;
    reports.sample(new Map([['carrier', 100 + n * 21]]));
  }
  assert.equal(rate(), 42);
  for (let n = 1; n <= 20; n += 1) {
    clock.now += 500;
    reports.sample(new Map([['carrier', 940]]));
  }
  assert.equal(rate(), 0);
});
