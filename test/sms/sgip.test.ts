/** The connector of SGIP with a gateway at the other end, and its listener. */
import assert from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import { test } from 'node:test';
import { systemClock } from '#lib/clock.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import { connectCarrier } from '#sms/connectors/connect.ts';
import { carrierSuite, type SuiteAnswer } from '#sms/connectors/connector.suite.ts';
import { probeConnector } from '#sms/probe-connector.ts';
import { eventually } from '../support/eventually.ts';
import { connectTestCarrier, partToSubmit } from '../support/sms/carrier.ts';
import { openSgip, sgipSettings } from '../support/sms/connect-sgip.ts';
import { poisonsOf } from '../support/sms/gateway-poisons.ts';
import { PROTOCOLS } from '../support/sms/gateway-protocols.ts';
import type { GatewayAnswer } from '../support/sms/scripted-gateway.ts';
import { createManualTimers } from '../support/timers.ts';

const { report, sequence } = PROTOCOLS.sgip;
const reportOf = (n: number) => report(sequence(n), { id: sequence(100 + n) });

const ANSWERS: Readonly<Record<SuiteAnswer, GatewayAnswer>> = {
  ...{ ok: 'ok', silence: 'silence', drop: 'drop' },
  ...{ throttled: 88, wrongNumber: 6, wrongSettings: 10 },
};

carrierSuite('sgip', {}, async (t, { answers = [], window = 10, isStranger = false, tools = {} }) => {
  const own = { answers: answers.map((answer) => ANSWERS[answer]) };
  const { gateway, test: carrier } = await openSgip(
    t,
    own,
    { window, ...(isStranger && { password: 'guess' }) },
    tools,
  );
  const suite = {
    submits: () => gateway.submits.length,
    logins: () => gateway.accepted,
    acknowledged: () => gateway.delivered.length,
    deliver: (from: string, text: string) =>
      void gateway.deliver({ from, content: Buffer.from(text, 'utf16le').swap16() }),
    drop: () => gateway.drop(),
  };
  return { ...carrier, gateway: suite };
});

test('a reply in GBK arrives at the listener', async (t) => {
  const { gateway, test: carrier } = await openSgip(t);
  await gateway.deliver({ coding: 15, content: Buffer.from('cdcbb6a9', 'hex') });
  assert.deepEqual([carrier.replies[0]?.text, carrier.replies[0]?.origin], ['退订', '+8613800138000']);
});

test('malformed packets between submits and their answers cost nothing, and end no session', async (t) => {
  const poisons = Object.values(poisonsOf('sgip'));
  const answers = poisons.map(({ octets }) => ({ before: octets }));
  const { gateway, test: it } = await openSgip(t, { answers });
  await it.bound();
  for (const [n] of poisons.entries())
    assert.equal((await it.carrier.submit(partToSubmit({ partId: n + 1 }))).kind, 'accepted');
  const count = (fate: string) => poisons.filter(({ becomes }) => becomes === fate).length;
  await eventually('all is stored', () => it.unread.length === count('unread') && it.replies.length === count('reply'));
  assert.deepEqual([gateway.accepted, it.ends], [1, []]);
});

test('reports are taken from the gateway alone, by either type of login', async (t) => {
  const { gateway, test: it, listenPort } = await openSgip(t);
  await eventually('it listens', () => it.carrier.isReceiving);
  for (const type of [1, 2]) await gateway.dial(listenPort, reportOf(type), { type });
  await gateway.dial(listenPort, reportOf(3), { password: 'wrong' });
  await gateway.dial(listenPort, reportOf(4), { name: 'other' });
  assert.deepEqual([it.receipts.length, gateway.dialled], [2, [0, 0, 1, 1]]);
});

test('addresses that are not allowed are not let in', async (t) => {
  const { gateway, test: it, listenPort } = await openSgip(t, {}, { allow: ['192.0.2.0/24'] });
  await eventually('it listens', () => it.carrier.isReceiving);
  await gateway.dial(listenPort, reportOf(1));
  assert.deepEqual([gateway.dialled, it.receipts.length], [[-1], 0]);
});

test('a gateway that closes idle connections is connected to again soon, each time', async (t) => {
  const timers = createManualTimers();
  const { gateway, test: it } = await openSgip(t, {}, {}, { timers, random: () => 0.99 });
  for (let n = 1; n <= 5; n += 1) {
    await it.bound();
    assert.equal(gateway.accepted, n);
    timers.advance(20_000);
    gateway.drop();
    await eventually('the end is noticed', () => it.carrier.state === 'connecting');
    timers.advance(1_100);
  }
});

test('refused connections and an address that is taken make a line of the log each, however often', async (t) => {
  const first = await openSgip(t);
  await eventually('the first listens', () => first.test.carrier.isReceiving);
  const lines: string[] = [];
  const log = createLogger({ level: 'warn', name: 'test', destination: { write: (line) => void lines.push(line) } });
  const second = connectTestCarrier(t, sgipSettings(first.gateway.port, first.listenPort), { log });
  const count = (text: string) => lines.filter((line) => line.includes(text)).length;
  await eventually('it has tried twice', () => second.ends.filter((end) => end.includes('cannot listen')).length > 1);
  assert.equal(count('cannot listen for the gateway'), 1);

  const closed = await openSgip(t, {}, { allow: ['192.0.2.0/24'] }, { log });
  await eventually('it listens', () => closed.test.carrier.isReceiving);
  for (let n = 1; n <= 3; n += 1) await closed.gateway.dial(closed.listenPort, reportOf(n));
  assert.deepEqual(closed.gateway.dialled, [-1, -1, -1]);
  assert.equal(count('was refused'), 1);
});

test('an eleventh connection is refused until another one has ended', async (t) => {
  const { gateway, test: it, listenPort } = await openSgip(t);
  await eventually('it listens', () => it.carrier.isReceiving);
  const sockets: Socket[] = [];
  t.after(() => {
    for (const socket of sockets) socket.destroy();
  });
  for (let n = 0; n < 10; n += 1) sockets.push(connect(listenPort, '127.0.0.1'));
  await eventually('all stand', () => sockets.every((socket) => socket.readyState === 'open'));
  await eventually('another one is refused', async () => (await gateway.dial(listenPort, reportOf(1))) === -1);
  sockets[0]?.destroy();
  await eventually('another one is let in', async () => (await gateway.dial(listenPort, reportOf(2))) === 0);
});

test('an address that is taken is listened on when it is free, and testing a connector needs none', async (t) => {
  const first = await openSgip(t);
  await first.test.bound();
  await eventually('the first listens', () => first.test.carrier.isReceiving);
  const settings = sgipSettings(first.gateway.port, first.listenPort);
  const log = createLogger({ level: 'silent', name: 'test' });
  const tools = { log, timers: systemTimers, clock: systemClock, random: () => 0 };
  const probed = { ...settings, connections: 3 };
  assert.deepEqual(await probeConnector(probed, connectCarrier, tools, 30_000), { kind: 'bound' });
  assert.equal(first.gateway.accepted, 2, 'one connection is enough');
  const second = connectTestCarrier(t, settings);
  await eventually('the second cannot', () => second.ends.some((reason) => reason.includes('cannot listen')));
  assert.ok(!second.carrier.isReceiving);
  await first.test.carrier[Symbol.asyncDispose]();
  await eventually('the second listens', () => second.carrier.isReceiving);
});
