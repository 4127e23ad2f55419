import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { dialectOf } from '../../../test/support/sms/gateway-dialects.ts';
import { PROTOCOLS, packet, text, u8 } from '../../../test/support/sms/gateway-protocols.ts';
import { createManualTimers } from '../../../test/support/timers.ts';
import type { SgipDialect } from './dialect.ts';
import { GatewaySession } from './gateway-session.ts';

const { sequence, deliver, report } = PROTOCOLS.sgip;

function begin(store: () => Promise<boolean> = async () => true) {
  const timers = createManualTimers();
  const written: Buffer[] = [];
  const told: string[] = [];
  const session = new GatewaySession({
    dialect: dialectOf('sgip') as unknown as SgipDialect,
    login: { name: 'gateway', password: 'secret' },
    timers,
    transport: {
      write: (octets) => void written.push(octets),
      end: () => void told.push('closed'),
      hold: (isHeld) => void told.push(isHeld ? 'held' : 'read on'),
    },
    events: { deliver: store, refused: () => void told.push('refused'), ended: () => void told.push('ended') },
  });
  return {
    ...{ session, timers, told },
    bind(type: number, name = 'gateway', password = 'secret') {
      session.received(packet(1, sequence(1), u8(type), text(name, 16), text(password, 16), Buffer.alloc(8)));
    },
    /** Command and result of each answer. */
    answers: () => written.map((octets) => [octets.readUInt32BE(4) - 0x80000000, octets[20]]),
    last: () => written.at(-1)?.toString('hex'),
  };
}

test('a gateway binds with either type of login, delivers and leaves', async () => {
  for (const type of [1, 2]) {
    const it = begin();
    it.bind(type);
    it.session.received(report(sequence(2), { id: sequence(9) }));
    it.session.received(deliver(sequence(3), { content: Buffer.from('T') }));
    it.session.received(packet(0x11, sequence(4), text('1069', 21), text('8613800138000', 21), u8(0), Buffer.alloc(8)));
    await turn();
    it.session.received(packet(2, sequence(5)));
    assert.deepEqual(
      it.answers().map(([command]) => command),
      [1, 0x11, 5, 4, 2],
    );
    assert.deepEqual(
      it
        .answers()
        .slice(0, 4)
        .map(([, result]) => result),
      [0, 0, 0, 0],
    );
    assert.equal(it.last(), `000000148000000200${sequence(5).toString('hex').slice(2)}`);
    assert.deepEqual(it.told, ['closed', 'ended']);
    assert.equal(it.timers.size, 0);
  }
});

test('a wrong name, password or type of login is refused, and nothing after it is read', async () => {
  for (const [type, name, password] of [
    [2, 'gateway', 'Secret'],
    [2, 'gatewa', 'secret'],
    [2, '', ''],
    [11, 'gateway', 'secret'],
  ] as const) {
    const stored: string[] = [];
    const it = begin(async () => stored.push('x') > 0);
    it.bind(type, name, password);
    it.session.received(deliver(sequence(3), { content: Buffer.from('T') }));
    await turn();
    assert.deepEqual([it.answers(), it.told, stored], [[[1, 1]], ['refused', 'closed', 'ended'], []]);
  }
});

test('what comes before the bind is not answered, and 30 seconds without one end the session', async () => {
  const it = begin();
  it.session.received(deliver(sequence(3), { content: Buffer.from('T') }));
  await turn();
  it.timers.advance(29_999);
  assert.deepEqual([it.answers(), it.told], [[], []]);
  it.timers.advance(1);
  assert.deepEqual(it.told, ['closed', 'ended']);
});

test('a session is closed after ten minutes without a packet', () => {
  const it = begin();
  it.bind(2);
  it.timers.advance(9 * 60_000);
  it.session.received(packet(0x99, sequence(3)));
  it.timers.advance(9 * 60_000);
  assert.deepEqual(it.told, []);
  it.timers.advance(60_000);
  assert.deepEqual(it.told, ['closed', 'ended']);
});

test('an impossible length ends the session, what a packet holds does not', async () => {
  const it = begin();
  it.bind(2);
  it.session.received(packet(4, sequence(3), u8(1, 2, 3)));
  it.session.received(packet(5, sequence(4)));
  await turn();
  assert.deepEqual([it.answers().length, it.told], [3, []]);
  it.session.received(Buffer.from('0000001300000005', 'hex'));
  assert.deepEqual(it.told, ['closed', 'ended']);
});

test('a delivery is acknowledged once it is stored, also while the session is being left', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const it = begin(() => promise);
  it.bind(2);
  it.session.received(report(sequence(2), { id: sequence(9) }));
  it.session.leave();
  it.session.received(report(sequence(3), { id: sequence(9) }));
  assert.deepEqual([it.answers().length, it.told], [1, []]);
  resolve(true);
  await turn();
  assert.deepEqual(
    [it.answers(), it.told],
    [
      [
        [1, 0],
        [5, 0],
      ],
      ['closed', 'ended'],
    ],
  );
  const failing = begin(async () => false);
  failing.bind(2);
  failing.session.received(report(sequence(2), { id: sequence(9) }));
  await turn();
  assert.deepEqual(failing.answers(), [[1, 0]]);
});

test('a session that is left ends after five seconds, whatever is being stored', () => {
  const it = begin(() => new Promise(() => {}));
  it.bind(2);
  it.session.received(report(sequence(2), { id: sequence(9) }));
  it.session.leave();
  it.timers.advance(4_999);
  assert.deepEqual(it.told, []);
  it.timers.advance(1);
  assert.deepEqual(it.told, ['closed', 'ended']);
});

test('an unbind is answered after the deliveries before it', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const it = begin(() => promise);
  it.bind(2);
  const batch = [report(sequence(2), { id: sequence(8) }), report(sequence(3), { id: sequence(9) })];
  it.session.received(Buffer.concat([...batch, packet(2, sequence(4))]));
  assert.deepEqual([it.answers().length, it.told], [1, []]);
  resolve(true);
  await turn();
  assert.deepEqual(
    it.answers().map(([command]) => command),
    [1, 5, 5, 2],
  );
  assert.deepEqual(it.told, ['closed', 'ended']);
});

test('a gateway that sends faster than is stored waits, and every delivery is acknowledged', async () => {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const it = begin(() => promise);
  it.bind(2);
  it.session.received(Buffer.concat(Array.from({ length: 150 }, (_, n) => report(sequence(n), { id: sequence(9) }))));
  assert.deepEqual(it.told, ['held']);
  resolve(true);
  await turn();
  assert.deepEqual(it.told, ['held', 'read on']);
  assert.equal(it.answers().filter(([command, result]) => command === 5 && result === 0).length, 150);
});
