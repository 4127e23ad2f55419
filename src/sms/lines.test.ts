import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { StoredConnector } from '#db/tables/sms/connectors.ts';
import { createLogger } from '#lib/logger.ts';
import { partToSubmit } from '../../test/support/sms/carrier.ts';
import { accepted, ScriptedCarrier } from '../../test/support/sms/scripted-carrier.ts';
import { createManualTimers } from '../../test/support/timers.ts';
import type { CarrierEvents } from './carrier.ts';
import { type Line, Lines, type LinesOptions } from './lines.ts';

test('an edited connector is opened anew when its session has ended: a carrier may allow one only', async () => {
  const { lines, opened, endSession } = begin();
  lines.reload([rowOf(1), { ...rowOf(1), id: 2 }]);
  assert.deepEqual(opened, [1, 1]);
  lines.reload([rowOf(2), { ...rowOf(1), id: 2 }]);
  lines.reload([rowOf(3), { ...rowOf(1), id: 2 }]);
  assert.deepEqual(opened, [1, 1], 'its session has not ended');
  assert.deepEqual(
    lines.all.map(({ id }) => id),
    [2],
  );
  endSession();
  await turn();
  assert.deepEqual(opened, [1, 1, 3], 'as it is now');
  lines.reload([{ ...rowOf(1), id: 2 }]);
  lines.reload([rowOf(4), { ...rowOf(1), id: 2 }]);
  lines.reload([{ ...rowOf(1), id: 2 }]);
  endSession();
  await turn();
  assert.deepEqual(opened, [1, 1, 3], 'it was disabled meanwhile');
});

test('a connector that waits to be opened anew is not opened when all are closed', async () => {
  const { lines, opened, endSession } = begin();
  lines.reload([rowOf(1)]);
  lines.reload([rowOf(2)]);
  const closed = lines[Symbol.asyncDispose]();
  endSession();
  await closed;
  await turn();
  assert.deepEqual(opened, [1]);
});

test('a connector whose lease is over sends nothing, also before it is closed, and the part is queued again', async () => {
  const owner = { holds: true };
  const { lines, carriers } = begin({ holds: () => owner.holds });
  lines.reload([rowOf(1)]);
  const [line] = lines.all;
  const part = partToSubmit();
  await line?.submit(part);
  assert.deepEqual([line?.isUp, line?.room], [true, 10]);
  owner.holds = false;
  assert.deepEqual([line?.isUp, line?.room, line?.state], [false, 0, 'bound']);
  assert.deepEqual(await line?.submit(part), { kind: 'unsent', reason: 'lease' });
  assert.equal(carriers[0]?.submitted.length, 1);
});

test('a carrier that refuses ten parts for the settings rests: the next connector sends, and it tries again with few', async () => {
  const changes: string[] = [];
  const { lines, carriers, timers } = begin({ stateChanged: (state) => void changes.push(state) });
  lines.reload([rowOf(1)]);
  const [line] = lines.all;
  const carrier = carriers[0];
  assert.ok(line !== undefined && carrier !== undefined);
  carrier.window = 100;
  carrier.answer = () => ({ kind: 'refused', status: '0x0000000a', class: 'misconfigured' });
  for (let n = 0; n < 9; n += 1) await line.submit(partToSubmit());
  assert.deepEqual([line.isUp, line.room, line.misconfigured], [true, 100, undefined]);
  await line.submit(partToSubmit());
  assert.deepEqual([line.isUp, line.room, line.state, line.misconfigured], [false, 0, 'paused', '0x0000000a']);
  assert.deepEqual(changes, ['paused']);
  timers.advance(60_000);
  assert.deepEqual([line.isUp, line.room, line.state, changes.at(-1)], [true, 9, 'bound', 'bound']);
  carrier.answer = (_part, n) => accepted(String(n));
  await line.submit(partToSubmit());
  assert.deepEqual([line.room, line.misconfigured], [100, undefined]);
});

test('a rate leaves room for the longest message where its parts must go out together', () => {
  const { lines } = begin();
  lines.reload([{ ...rowOf(1), partsPerSecond: 1 }]);
  assert.equal(lines.all[0]?.room, 1);
  const whole = begin({ wholeMessages: true });
  whole.lines.reload([{ ...rowOf(1), partsPerSecond: 1 }]);
  assert.equal(whole.lines.all[0]?.room, 9);
});

/** `opened`: when their rows were changed. Sessions go on ending until it is said that they have. */
function begin({
  holds = () => true,
  stateChanged = () => {},
  wholeMessages = false,
}: Partial<Pick<LinesOptions, 'holds'> & Pick<CarrierEvents, 'stateChanged'>> & { wholeMessages?: boolean } = {}) {
  const timers = createManualTimers();
  const opened: number[] = [];
  const carriers: ScriptedCarrier[] = [];
  let ending = Promise.withResolvers<void>();
  const lines = new Lines({
    connect: () => {
      const carrier = new ScriptedCarrier();
      carrier.wholeMessages = wholeMessages;
      carriers.push(carrier);
      return Object.assign(carrier, { [Symbol.asyncDispose]: () => ending.promise });
    },
    tools: { log: createLogger({ level: 'silent', name: 'test' }), timers, clock: () => 0, random: () => 0 },
    openSettings: ({ changedAt }) => {
      opened.push(changedAt);
      return { kind: 'loopback' };
    },
    events: (_line: Line) => ({
      receipt: async () => {},
      reply: async () => {},
      unread: async () => {},
      lateAnswer: () => {},
      stateChanged,
      sessionEnded: () => {},
      roomFreed: () => {},
    }),
    holds,
  });
  const endSession = () => {
    ending.resolve();
    ending = Promise.withResolvers();
  };
  return { lines, opened, carriers, timers, endSession };
}

function rowOf(changedAt: number): StoredConnector {
  const row = { id: 1, name: 'a', enabled: true, partsPerSecond: undefined, secret: undefined, changedAt };
  return { ...row, settings: { kind: 'loopback' } };
}
