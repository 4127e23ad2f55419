/** A session over octets and time, without a socket. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { anyPdu } from '../../../test/support/sms/any-pdu.ts';
import { beginSession, idOf, MESSAGE, pduOf, SESSION_TIMES } from '../../../test/support/sms/smpp-session.ts';
import { Pace } from '../wire/pace.ts';
import { reconnectDelayMs } from '../wire/reconnect.ts';
import { countTo } from '../wire/sequence.ts';
import type { SessionEnd } from '../wire/session.ts';
import type { DecodedPdu } from './decode.ts';
import { encodePdu } from './encode.ts';
import type { Fields } from './layouts.ts';

const { sourceAddrTon, sourceAddrNpi, sourceAddr, destAddrTon, destAddrNpi, destinationAddr } = MESSAGE;
const SOURCE = { sourceAddrTon, sourceAddrNpi, sourceAddr };
const ALERT: Fields<'alertNotification'> = { ...SOURCE, esmeAddrTon: 0, esmeAddrNpi: 0, esmeAddr: 'a' };
const DATA: Fields<'dataSm'> = {
  ...{ serviceType: '', ...SOURCE, destAddrTon, destAddrNpi, destinationAddr },
  ...{ esmClass: 4, registeredDelivery: 0, dataCoding: 0 },
};

test('a bind that is answered makes a session; one that is refused or not answered in time ends it', () => {
  const bound = beginSession();
  assert.equal(bound.sent()[0]?.command, 'bindTransceiver');
  bound.answer('bindTransceiverResp', { systemId: 'smsc' });
  assert.ok(bound.session.isBound);

  const refused = beginSession();
  refused.answer('bindTransceiverResp', { systemId: '' }, 5);
  const reason = '0x00000005, the carrier allows no more sessions (already bound)';
  assert.deepEqual(refused.ends, [{ kind: 'refused', reason, isLasting: true }]);

  const unanswered = beginSession();
  unanswered.timers.advance(9_999);
  assert.deepEqual(unanswered.ends, []);
  unanswered.timers.advance(1);
  assert.deepEqual(unanswered.ends, [{ kind: 'bindTimeout' }]);
  assert.ok(unanswered.hasEnded());
});

test('a bind with unencodable fields ends the session, and throws nothing at the connection', () => {
  const it = beginSession({ settings: { systemId: '商店' } });
  assert.deepEqual(it.sent(), []);
  assert.match(JSON.stringify(it.ends), /^\[\{"kind":"closed","reason":"systemId: /);
  assert.ok(it.hasEnded());
});

test('each part has a sequence number of its own; after 0x7FFFFFFF comes 1, unless it is in use (JamaaSMPP#50, vumi#88, smppjs#25)', async () => {
  const it = beginSession({ previousSequence: 0x7ffffffd });
  it.answer('bindTransceiverResp', { systemId: '' });
  const answers = [it.submit(), it.submit(), it.submit()];
  const sequences = it.sent().map(({ sequence }) => sequence);
  assert.deepEqual(sequences, [0x7ffffffe, 0x7fffffff, 1, 2]);
  for (const sequence of [2, 1, 0x7fffffff]) it.answer('submitSmResp', { messageId: String(sequence) }, 0, sequence);
  assert.deepEqual((await Promise.all(answers)).map(idOf), ['2147483647', '1', '2']);
  const taken = [0x7fffffff, 1, 2, 3];
  assert.equal(
    countTo(0x7fffffff, 0x7ffffffe)(undefined, (key) => taken.includes(Number(key))),
    4,
  );
});

test('a part without an answer in time is settled as such, and a late answer is still reported', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  const late: DecodedPdu[] = [];
  const first = it.submit((packet) => late.push(packet));
  it.timers.advance(20_000);
  const second = it.submit();
  it.answer('enquireLinkResp', {}, 0, 999); // it lives
  it.timers.advance(10_100);
  assert.deepEqual(await first, { kind: 'timeout' });
  it.answer('submitSmResp', { messageId: 'b' }, 0, 3);
  assert.equal(idOf(await second), 'b');
  it.answer('submitSmResp', { messageId: 'a' }, 0, 2);
  it.answer('submitSmResp', { messageId: 'a' }, 0, 2);
  assert.deepEqual(
    late.map((packet) => packet.kind === 'pdu' && packet.pdu.sequence),
    [2],
  );
  assert.ok(it.session.isBound);
});

test('an answer that has arrived while the process was busy is in time (jsmpp#63)', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  it.timers.advance(10_000);
  const answer = it.submit();
  // The timer runs before the socket is read.
  it.timers.advance(25_000);
  it.answer('enquireLinkResp', {});
  it.timers.advance(5_000);
  it.answer('submitSmResp', { messageId: 'a' }, 0, 2);
  assert.equal(idOf(await answer), 'a');
});

test('a silent carrier is sent enquire_link, and then left', () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  it.timers.advance(30_000);
  assert.equal(it.sent().at(-1)?.command, 'enquireLink');
  it.answer('enquireLinkResp', {});
  it.timers.advance(30_000);
  assert.equal(it.sent().filter(({ command }) => command === 'enquireLink').length, 2);
  it.receive(Buffer.from('0000', 'hex')); // half a length is no word
  it.timers.advance(10_000);
  assert.deepEqual(it.ends, [{ kind: 'silent' }]);
  assert.equal(it.timers.size, 0);
});

test('a carrier that is silent since a part was sent is left when the part times out, and an active one is not', async () => {
  for (const [isHeard, ends] of [
    [false, [{ kind: 'silent' }]],
    [true, []],
  ] as const) {
    const it = beginSession({ times: { ...SESSION_TIMES, responseMs: 5_000 } });
    it.answer('bindTransceiverResp', { systemId: '' });
    it.timers.advance(1_000);
    const answer = it.submit();
    it.timers.advance(1_000);
    if (isHeard) it.ask('enquireLink', {}, 7);
    it.timers.advance(5_000);
    assert.deepEqual([await answer, it.ends], [{ kind: 'timeout' }, ends]);
  }
});

test('requests of the carrier are answered', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  it.ask('enquireLink', {}, 7);
  assert.deepEqual([it.sent().at(-1)?.command, it.sent().at(-1)?.sequence], ['enquireLinkResp', 7]);
  it.receive(Buffer.from('00000010000001120000000000000009', 'hex'));
  assert.deepEqual(it.sent().at(-1), { command: 'genericNack', status: 3, sequence: 9, fields: {}, tlvs: [] });
  it.ask('submitSm', MESSAGE, 10);
  assert.equal(it.sent().at(-1)?.command, 'genericNack');
  const before = it.sent().length;
  it.ask('outbind', { systemId: 'a', password: 'b' }, 12);
  it.ask('alertNotification', ALERT, 13);
  assert.equal(it.sent().length, before, 'to these there is no answer');
  it.ask('unbind', {}, 11);
  assert.equal(it.sent().at(-1)?.command, 'unbindResp');
  assert.deepEqual(it.ends, [{ kind: 'unbound' }]);
});

test('a delivery is answered when it is stored, and refused if it is not', async () => {
  const stored = Promise.withResolvers<boolean>();
  const it = beginSession({}, () => stored.promise);
  it.ask('deliverSm', MESSAGE, 6);
  await turn();
  assert.equal(it.sent().at(-1)?.status, 4, 'not bound yet');
  it.answer('bindTransceiverResp', { systemId: '' }, 0, 1);
  it.ask('deliverSm', MESSAGE, 7);
  await turn();
  assert.equal(it.sent().length, 2);
  stored.resolve(true);
  await turn();
  assert.deepEqual(
    [it.sent().at(-1)?.command, it.sent().at(-1)?.status, it.sent().at(-1)?.sequence],
    ['deliverSmResp', 0, 7],
  );

  it.ask('dataSm', DATA, 8);
  await turn();
  assert.deepEqual([it.sent().at(-1)?.command, it.sent().at(-1)?.status], ['dataSmResp', 0]);

  const failing = beginSession({}, async () => false);
  failing.answer('bindTransceiverResp', { systemId: '' });
  failing.ask('deliverSm', MESSAGE, 7);
  await turn();
  assert.deepEqual(failing.sent().at(-1)?.status, 0x64);
});

const BROKEN: readonly [string, string][] = [
  ['a length too short', '0000000800000005'],
  ['a length too long', '7fffffff00000005'],
  ['octets of no PDU', 'fffefdfffefdfffefdfffefd'],
];
for (const [name, octets] of BROKEN)
  test(`${name} ends the session, and leaves no caller waiting`, async () => {
    const it = beginSession();
    it.answer('bindTransceiverResp', { systemId: '' });
    const answer = it.submit();
    it.receive(Buffer.from(octets, 'hex'));
    assert.deepEqual(await answer, { kind: 'disconnected' });
    assert.equal(it.ends[0]?.kind, 'malformed');
    assert.equal(it.sent().at(-1)?.command, 'genericNack');
    assert.ok(it.hasEnded());
    it.receive(Buffer.from(octets, 'hex'));
    it.session.closed('late');
    assert.deepEqual([it.ends.length, it.timers.size], [1, 0]);
  });

test('no PDU makes a session throw, and in the end no caller waits', async () => {
  const step = fc.oneof(
    anyPdu.map((pdu) => ({ kind: 'say' as const, octets: encodePdu({ ...pdu, sequence: pdu.sequence % 8 }) })),
    fc.uint8Array({ maxLength: 40, size: 'max' }).map((it) => ({ kind: 'say' as const, octets: Buffer.from(it) })),
    fc.nat(50_000).map((ms) => ({ kind: 'wait' as const, ms })),
    fc.constant({ kind: 'submit' as const }),
    fc.constant({ kind: 'leave' as const }),
  );
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30, size: 'max' }), fc.boolean(), async (steps, isStored) => {
      const it = beginSession({}, async () => isStored);
      it.answer('bindTransceiverResp', { systemId: '' });
      const waiting: Promise<unknown>[] = [];
      for (const next of steps) {
        if (next.kind === 'say') it.receive(next.octets);
        else if (next.kind === 'wait') it.timers.advance(next.ms);
        else if (next.kind === 'leave') waiting.push(it.session.leave());
        else if (it.session.isBound) waiting.push(it.submit());
        await turn();
      }
      it.session.closed('the end');
      await Promise.all(waiting);
      assert.deepEqual([it.timers.size, it.ends.length, it.hasEnded()], [0, 1, true]);
    }),
    { numRuns: 200 },
  );
});

test('an answer of another kind, or to nothing, is ignored', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  const answer = it.submit();
  it.answer('enquireLinkResp', {}, 0, 2);
  it.answer('submitSmResp', { messageId: 'x' }, 0, 77);
  it.answer('genericNack', {}, 0x58, 2);
  assert.equal(pduOf(await answer)?.command, 'genericNack');
});

test('a carrier that unbinds is read to its end, for a while: parts that it has accepted are not in doubt', async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  const answers = [it.submit(), it.submit()];
  it.ask('unbind', {}, 77);
  assert.ok(!it.session.isBound, 'nothing more goes out');
  assert.equal(it.sent().at(-1)?.command, 'submitSm', 'its answer waits for the carrier’s');
  it.answer('submitSmResp', { messageId: 'a' }, 0, 2);
  assert.deepEqual(it.ends, []);
  it.answer('submitSmResp', { messageId: 'b' }, 0, 3);
  assert.deepEqual((await Promise.all(answers)).map(idOf), ['a', 'b']);
  assert.deepEqual([it.sent().at(-1)?.command, it.sent().at(-1)?.sequence], ['unbindResp', 77]);
  assert.deepEqual(it.ends, [{ kind: 'unbound' }]);

  const mute = beginSession();
  mute.answer('bindTransceiverResp', { systemId: '' });
  const lost = mute.submit();
  mute.ask('unbind', {}, 77);
  mute.timers.advance(4_999);
  assert.deepEqual(mute.ends, []);
  mute.timers.advance(1);
  assert.deepEqual([await lost, mute.ends], [{ kind: 'disconnected' }, [{ kind: 'unbound' }]]);
});

test('a carrier that sends faster than is stored waits, is not silent meanwhile, and has every delivery acknowledged', async () => {
  const stored = Promise.withResolvers<boolean>();
  const it = beginSession({}, () => stored.promise);
  it.answer('bindTransceiverResp', { systemId: '' });
  const before = it.sent().length;
  for (let n = 1; n <= 1_200; n += 1) it.ask('deliverSm', MESSAGE, n);
  assert.deepEqual(it.holds, [true]);
  it.timers.advance(120_000);
  assert.deepEqual(it.ends, []);
  stored.resolve(true);
  await turn();
  assert.deepEqual(it.holds, [true, false]);
  const answers = it.sent().slice(before);
  assert.equal(answers.filter(({ command, status }) => command === 'deliverSmResp' && status === 0).length, 1_200);
  // Read on, it is asked again, and its silence counts.
  it.timers.advance(120_000);
  assert.deepEqual(it.ends, [{ kind: 'silent' }]);
});

test('deliveries before an unbind of the carrier are answered before it', async () => {
  const stored = Promise.withResolvers<boolean>();
  const it = beginSession({}, () => stored.promise);
  it.answer('bindTransceiverResp', { systemId: '' });
  it.ask('deliverSm', MESSAGE, 7);
  it.ask('unbind', {}, 77);
  assert.deepEqual([it.session.isBound, it.ends], [false, []]);
  stored.resolve(true);
  await turn();
  const last = it.sent().slice(-2);
  assert.deepEqual(
    last.map(({ command, sequence }) => [command, sequence]),
    [
      ['deliverSmResp', 7],
      ['unbindResp', 77],
    ],
  );
  assert.deepEqual(it.ends, [{ kind: 'unbound' }]);
});

test("answers that arrive before the carrier's unbind_resp count when we unbind", async () => {
  const it = beginSession();
  it.answer('bindTransceiverResp', { systemId: '' });
  const answer = it.submit();
  const left = it.session.leave();
  assert.equal(it.sent().at(-1)?.command, 'unbind');
  it.answer('submitSmResp', { messageId: 'a' }, 0, 2);
  it.answer('unbindResp', {}, 0, 3);
  await left;
  assert.equal(idOf(await answer), 'a');
  assert.deepEqual(it.ends, [{ kind: 'left' }]);

  const deaf = beginSession();
  deaf.answer('bindTransceiverResp', { systemId: '' });
  const leaving = deaf.session.leave();
  deaf.timers.advance(10_000);
  await leaving;
  await beginSession().session.leave(); // before it was bound
});

test('a throttled connector pauses, longer each time, and resumes little by little', () => {
  const pace = new Pace(10, 1);
  assert.equal(pace.room(3, 0), 7);
  assert.equal(pace.throttled(0), 1_000);
  assert.equal(pace.throttled(500), undefined);
  assert.equal(pace.room(0, 999), 0);
  assert.equal(pace.room(0, 1_000), 5);
  assert.equal(pace.throttled(1_000), 2_000);
  for (let n = 0; n < 9; n += 1) pace.throttled(10_000 + n * 100_000);
  assert.equal(pace.throttled(2_000_000), 60_000);
  assert.equal(pace.room(0, 3_000_000), 1, 'never nothing at all');
  for (let n = 0; n < 200; n += 1) pace.taken();
  assert.equal(pace.room(0, 3_000_000), 10);
  assert.equal(pace.throttled(3_000_000), 1_000);
  const whole = new Pace(16, 9);
  for (let n = 0; n < 9; n += 1) whole.throttled(n * 100_000);
  assert.equal(whole.room(0, 3_000_000), 9, 'a long message fits');
});

test('the pause before the next session doubles up to a minute, and is long after ESME_RALYBND (vumi#624, node-smpp#250, jsmpp#180)', () => {
  const closed: SessionEnd = { kind: 'closed', reason: '' };
  assert.deepEqual(
    [1, 2, 6, 7, 1000].map((failures) => reconnectDelayMs(closed, failures, 0.5)),
    [550, 1050, 16_050, 30_050, 30_050],
  );
  assert.equal(reconnectDelayMs(closed, 1, 0), 50);
  assert.ok(reconnectDelayMs({ kind: 'refused', reason: '', isLasting: true }, 1, 0) >= 30_000);
  assert.equal(reconnectDelayMs({ kind: 'refused', reason: '', isLasting: false }, 1, 0), 50);
});
