/** The SMPP connector with a real carrier on Net::SMPP at the other end, which does what carriers should not. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect as connectTcp } from 'node:net';
import { describe, type TestContext, test } from 'node:test';
import { createServer as createTlsServer } from 'node:tls';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import type { SmppSettings } from '#model/sms-connector.ts';
import type { CarrierTools, SubmitOutcome } from '#sms/carrier.ts';
import { carrierSuite, type SuiteAnswer, type SuiteGateway } from '#sms/connectors/connector.suite.ts';
import type { DecodedPdu } from '#sms/smpp/decode.ts';
import { type SmppDialect, smppDialect } from '#sms/smpp/dialect.ts';
import type { SmppRequest } from '#sms/smpp/request.ts';
import { WireSession } from '#sms/wire/session.ts';
import { openSocket } from '#sms/wire/socket.ts';
import { createAuthority } from '../support/certificates/certificate.ts';
import { eventually } from '../support/eventually.ts';
import { needs } from '../support/runner/needs.ts';
import { connectTestCarrier, partToSubmit, smppSettings, type TestCarrier } from '../support/sms/carrier.ts';
import { pduOf, SESSION_TIMES } from '../support/sms/smpp-session.ts';
import { SMSC_POISONS, type Smsc, type SmscAnswer, type SmscOptions, startSmsc } from '../support/sms/smsc.ts';
import { createManualTimers } from '../support/timers.ts';

const DISCONNECTED: SubmitOutcome = { kind: 'uncertain', reason: 'disconnected' };

const ANSWERS: Readonly<Record<SuiteAnswer, SmscAnswer>> = {
  ...{ ok: 'ok', throttled: 0x58, wrongNumber: 0x0b, wrongSettings: 0x0a },
  ...{ silence: 'silent', drop: 'drop' },
};

carrierSuite('SMPP', needs('netSmpp'), async (t, { answers = [], window, isStranger = false, tools }) => {
  const smsc = await startSmsc(t, { password: 'secret', answers: answers.map((answer) => ANSWERS[answer]) });
  const settings = { ...(window !== undefined && { window }), ...(isStranger && { password: 'guess' }) };
  const ofStatus0 = (kind: string) => smsc.events.filter(({ event, status }) => event === kind && status === 0).length;
  const gateway: SuiteGateway = {
    submits: () => smsc.submits().length,
    logins: () => ofStatus0('bind'),
    acknowledged: () => ofStatus0('delivered'),
    deliver: (from, text) =>
      smsc.order({
        do: 'deliver',
        from,
        to: '1069',
        text: Buffer.from(text, 'utf16le').swap16().toString('hex'),
        dataCoding: 8,
      }),
    drop: () => smsc.order({ do: 'drop' }),
  };
  return { ...connectTestCarrier(t, smppSettings(smsc.port, settings), tools), gateway };
});

describe('the SMPP connector', needs('netSmpp'), () => {
  const DIALECTS: readonly [string, SmscOptions][] = [
    ['id in hexadecimal, receipt in decimal with leading zeros', {}],
    ['id in decimal, receipt in hexadecimal', { ids: 'decimal', receiptIds: 'hex', dialect: 'bare' }],
    ['only id and stat', { dialect: 'bare' }],
    ['parameters only', { dialect: 'tlvOnly' }],
    ['ASCII that calls itself UCS-2', { dialect: 'labelledUcs2' }],
    ['before the answer', { receipts: 'before' }],
  ];
  test('each receipt finds its part, whatever the dialect', async (t) => {
    const { smsc, carrier, receipts } = await begin(t);
    for (const [name, options] of DIALECTS) {
      smsc.order({
        do: 'set',
        options: { ids: 'hex', receiptIds: 'decimal', receipts: 'after', dialect: 'full', ...options },
      });
      const count = receipts.length;
      const outcome = await carrier.submit(partToSubmit());
      assert.ok(outcome.kind === 'accepted', name);
      const receipt = await eventually('the receipt', () => receipts[count]);
      assert.ok(receipt.keys.includes(outcome.keys[0] ?? ''), name);
      assert.ok(outcome.keys.includes(receipt.keys[0] ?? ''), name);
      assert.deepEqual([receipt.state, receipt.destination], ['delivered', '+8613800138000'], name);
    }
    await eventually('all are acknowledged', () => smsc.count('delivered') === DIALECTS.length);
    assert.ok(smsc.events.filter(({ event }) => event === 'delivered').every(({ status }) => status === 0));
  });

  test('a throttled connector, or one with a full queue, pauses and then takes less (jasmin#425, vumi#636)', async (t) => {
    const timers = createManualTimers();
    const { smsc, carrier, states, roomFreed } = await begin(t, { answers: ['ok', 0x58, 0x14] }, {}, { timers });
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    const refused = await Promise.all([carrier.submit(partToSubmit()), carrier.submit(partToSubmit())]);
    assert.deepEqual(refused, [
      { kind: 'refused', status: '0x00000058', class: 'throttled' },
      { kind: 'refused', status: '0x00000014', class: 'throttled' },
    ]);
    assert.deepEqual([carrier.state, carrier.room], ['paused', 0]);
    assert.deepEqual(await carrier.submit(partToSubmit()), { kind: 'unsent', reason: 'paused' });
    timers.advance(1_000);
    assert.deepEqual([carrier.state, carrier.room], ['bound', 5]);
    assert.deepEqual([states, roomFreed()], [['bound', 'paused', 'bound'], 2]);
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    await eventually('four have gone out', () => smsc.submits().length === 4);
  });

  test('errors of a carrier are told apart: temporary, permanent, and of the session, which is opened anew', async (t) => {
    const { smsc, carrier, bound } = await begin(t, { answers: [0x08, 0x0b, 0x04] });
    const classes = [];
    for (let n = 0; n < 3; n += 1) {
      const outcome = await carrier.submit(partToSubmit());
      classes.push(outcome.kind === 'refused' && outcome.class);
    }
    assert.deepEqual(classes, ['transient', 'permanent', 'rebind']);
    await bound();
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    await eventually('two binds', () => smsc.count('bind') === 2);
  });

  const FATAL: readonly SmscAnswer[] = ['drop', 'garbage', 'short', 'long'];
  test('a broken or dropped connection leaves no part waiting, sends none twice, ends no other session, and is opened again', async (t) => {
    const { smsc, carrier, bound } = await begin(t, { answers: FATAL });
    const other = connectTestCarrier(t, smppSettings(smsc.port));
    await other.bound();
    for (const answer of FATAL) {
      assert.deepEqual(await carrier.submit(partToSubmit()), DISCONNECTED, String(answer));
      assert.equal(carrier.room, 0);
      await bound();
    }
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    assert.deepEqual(other.states, ['bound']);
    await eventually('the broken ones are told so', () => smsc.count('nack') === 3);
    await eventually('each part went out', () => smsc.submits().length >= FATAL.length + 1);
    assert.equal(smsc.submits().length, FATAL.length + 1);
  });

  test('a PDU whose content cannot be read ends no session and costs no answer (python-smpp#7, cloudhopper-smpp#64, jsmpp#214)', async (t) => {
    const answers = Array.from({ length: 60 }, (_, n) => SMSC_POISONS[n % SMSC_POISONS.length] ?? 'ok');
    const { smsc, carrier, unread, replies, ends } = await begin(t, { answers, greeting: 'surplus', receipts: 'none' });
    const outcomes: SubmitOutcome[] = [];
    while (outcomes.length < 60) {
      const parts = Array.from({ length: Math.min(carrier.room, 60 - outcomes.length) }, () => partToSubmit());
      outcomes.push(...(await Promise.all(parts.map((part) => carrier.submit(part)))));
    }
    assert.deepEqual(new Set(outcomes.map(({ kind }) => kind)), new Set(['accepted']));
    assert.equal(new Set(outcomes.map((it) => it.kind === 'accepted' && it.carrierId)).size, 60);
    assert.deepEqual([smsc.count('bind'), ends], [1, []]);
    // Of 7 poisons in turn: 9, 9 and 8 times those whose text is there, after the greeting; those that are cut.
    await eventually('what has a text is told', () => replies.length === 1 + 9 + 9 + 8);
    assert.deepEqual(
      new Set(replies.map(({ text, origin }) => `${origin} ${text}`)),
      new Set(['+8613800138000 short']),
    );
    await eventually('what has none is kept', () => unread.length === 9 + 9);
    assert.deepEqual(new Set(unread.map(({ reason, command }) => `${command} ${reason}`)), new Set(['deliver_sm cut']));
    await eventually('each is acknowledged', () => smsc.count('delivered') === replies.length + unread.length);
    assert.ok(smsc.events.every(({ event, status }) => event !== 'delivered' || status === 0));
    await eventually('an unknown command is told so', () => smsc.count('nack') > 0);
  });

  test('a receipt decides about a part whose answer was lost', async (t) => {
    const { carrier, receipts } = await begin(t, { answers: ['lost'] });
    assert.deepEqual(await carrier.submit(partToSubmit({ partId: 70_000 })), DISCONNECTED);
    const receipt = await eventually('the receipt', () => receipts[0]);
    assert.deepEqual(
      [receipt.reference?.value, receipt.destination, receipt.state],
      [70_000 % 65_536, '+8613800138000', 'delivered'],
    );
  });

  test('an answer that arrives too late is reported; other parts proceed meanwhile', async (t) => {
    const timers = createManualTimers();
    const { carrier, late } = await begin(t, { answers: ['slow'], slowMs: 2_000 }, {}, { timers });
    const slow = carrier.submit(partToSubmit({ partId: 5 }));
    assert.equal((await carrier.submit(partToSubmit({ partId: 6 }))).kind, 'accepted');
    timers.advance(30_100);
    assert.deepEqual(await slow, { kind: 'uncertain', reason: 'timeout' });
    assert.equal(carrier.state, 'paused', 'who is slow gets less');
    const told = await eventually('the late answer', () => late[0]);
    assert.deepEqual([told.partId, told.outcome.kind], [5, 'accepted']);
  });

  test('a session whose carrier stops answering is closed', async (t) => {
    const timers = createManualTimers();
    const { smsc, carrier, states } = await begin(t, { otherwise: 'silent', deaf: true }, {}, { timers });
    timers.advance(10_000);
    const part = carrier.submit(partToSubmit());
    await eventually('it is there', () => smsc.submits().length === 1);
    timers.advance(30_000);
    await part;
    assert.equal(carrier.state, 'connecting');
    timers.advance(50);
    await eventually('a new session', () => smsc.count('bind') === 2 && carrier.state === 'bound');
    assert.deepEqual(states, ['bound', 'connecting', 'bound']);
    await eventually('it was asked', () => smsc.count('enquire') === 1);
  });

  test('the window bounds the parts that await an answer', async (t) => {
    const { carrier, roomFreed } = await begin(t, { otherwise: 'slow', slowMs: 100 }, { window: 3 });
    const waiting = [1, 2, 3].map((partId) => carrier.submit(partToSubmit({ partId })));
    assert.equal(carrier.room, 0);
    assert.deepEqual(await carrier.submit(partToSubmit()), { kind: 'unsent', reason: 'bound' });
    await Promise.all(waiting);
    assert.deepEqual([carrier.room, roomFreed()], [3, 2]);
  });

  test('the next bind is half a minute away after ESME_RALYBND', async (t) => {
    const timers = createManualTimers();
    const smsc = await startSmsc(t, { alreadyBound: 1 });
    const { carrier } = connectTestCarrier(t, smppSettings(smsc.port), { timers });
    await eventually('the refusal', () => smsc.count('closed') === 1 && timers.size === 1);
    timers.advance(29_999);
    assert.deepEqual([carrier.state, timers.size, smsc.count('bind')], ['connecting', 1, 1]);
    timers.advance(1);
    await eventually('bound', () => carrier.state === 'bound');
  });

  test('a carrier that restarts is connected again, and an unreachable one does no harm', async (t) => {
    const { smsc, carrier, bound } = await begin(t, { otherwise: 'silent' });
    const part = carrier.submit(partToSubmit());
    await eventually('it is there', () => smsc.submits().length === 1);
    await smsc.stop();
    assert.deepEqual(await part, DISCONNECTED);
    assert.deepEqual(await carrier.submit(partToSubmit()), { kind: 'unsent', reason: 'connecting' });
    await smsc.restart({ otherwise: 'ok' });
    await bound();
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    smsc.order({ do: 'unbind' });
    await eventually('it unbinds, and we bind again', () => smsc.count('bind') === 3);
  });

  test('a delivery that cannot be stored is not acknowledged, and fills no log', async (t) => {
    const lines: string[] = [];
    const destination = { write: (line: string) => void lines.push(line) };
    const log = createLogger({ level: 'info', name: 'test', destination });
    const { smsc, carrier, receipts, failToStore } = await begin(t, {}, {}, { log });
    failToStore(true);
    for (let n = 0; n < 3; n += 1) await carrier.submit(partToSubmit());
    const statuses = () => smsc.events.filter(({ event }) => event === 'delivered').map(({ status }) => status);
    await eventually('they are turned away', () => statuses().length === 3);
    failToStore(false);
    await carrier.submit(partToSubmit());
    await eventually('it is taken', () => statuses().length === 4);
    assert.deepEqual([statuses(), receipts.length], [[0x64, 0x64, 0x64, 0], 1]);
    const told = lines.filter((line) => line.includes('receipts and replies of the carrier'));
    assert.deepEqual([told.length, /"refused":3/.test(told[1] ?? '')], [2, true]);
  });

  test('a reply arrives with its number and text', async (t) => {
    const { smsc, replies } = await begin(t);
    smsc.order({ do: 'deliver', from: '8613800138000', to: '10690000', text: '90008ba2', dataCoding: 8 });
    const reply = await eventually('the reply', () => replies[0]);
    const { origin, destination, text, coding } = reply;
    assert.deepEqual([origin, destination, text, coding], ['+8613800138000', '10690000', '退订', 8]);
  });

  test('closing unbinds, after waiting for outstanding answers', async (t) => {
    const { smsc, carrier } = await begin(t, { otherwise: 'slow', slowMs: 100 });
    const part = carrier.submit(partToSubmit());
    await carrier[Symbol.asyncDispose]();
    assert.equal((await part).kind, 'accepted');
    await eventually('unbound, then closed', () => smsc.count('unbind') === 1 && smsc.count('closed') === 1);
  });

  test('a pair of sessions has one that submits and one that receives', async (t) => {
    const { smsc, carrier, receipts } = await begin(t, {}, { bind: 'pair' });
    await eventually('both are bound', () => smsc.count('bind') === 2);
    assert.equal((await carrier.submit(partToSubmit())).kind, 'accepted');
    await eventually('the receipt', () => receipts.length === 1);
    const kinds = smsc.events.filter(({ event }) => event === 'bind').map(({ kind }) => kind);
    assert.deepEqual(new Set(kinds), new Set(['transmitter', 'receiver']));
    await carrier[Symbol.asyncDispose]();
    await eventually('both unbind', () => smsc.count('unbind') === 2);
  });

  test('a pair whose receiver is refused submits, and reports that it receives nothing until it does', async (t) => {
    const { smsc, carrier, states } = await begin(t, { refused: 'receiver' }, { bind: 'pair' });
    await eventually('both were tried', () => smsc.count('bind') >= 2);
    assert.deepEqual([carrier.state, carrier.isReceiving], ['bound', false]);
    const told = states.length;
    smsc.order({ do: 'set', options: { refused: '' } });
    await eventually('it receives', () => carrier.isReceiving);
    assert.deepEqual(states.slice(told), ['bound']);
  });

  test('a carrier that refuses the bind is asked again later', async (t) => {
    const { smsc, carrier, bound } = await begin(t, { bindStatus: 0x0e }, {}, {}, false);
    await eventually('some tries', () => smsc.count('bind') >= 2);
    assert.equal(carrier.state, 'connecting');
    smsc.order({ do: 'set', options: { bindStatus: 0 } });
    await bound();
  });

  test('a carrier accepts the sequence numbers around 0x7FFFFFFF', async (t) => {
    const smsc = await startSmsc(t);
    const dialect = smppDialect(smppSettings(smsc.port), 'bindTransmitter', 0x7ffffffd);
    const { session, bound } = sessionAt(smsc.port, dialect);
    t.after(() => session.leave());
    await bound;
    const submits = [1, 2, 3].map((partId) => {
      const request = dialect.compose(partToSubmit({ partId }));
      assert.ok(request.kind === 'request');
      return session.submit(request, () => {});
    });
    const answers = await Promise.all(submits);
    assert.deepEqual(
      answers.map((answer) => pduOf(answer)?.status),
      [0, 0, 0],
    );
    await eventually('all are there', () => smsc.submits().length === 3);
    assert.deepEqual(
      smsc.submits().map(({ sequence }) => sequence),
      [0x7fffffff, 1, 2],
    );
  });

  test("a connector over TLS verifies the certificate's name", needs('openssl'), async (t) => {
    const authority = createAuthority(t);
    const smsc = await startSmsc(t);
    const server = createTlsServer(authority.issue(['smsc.example']), (socket) => {
      const inner = connectTcp(smsc.port, '127.0.0.1');
      socket.on('error', () => inner.destroy()).pipe(inner);
      inner.on('error', () => socket.destroy()).pipe(socket);
    }).listen(0, '127.0.0.1');
    t.after(() => server.close());
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    const good = connectTestCarrier(t, smppSettings(port, { tls: { ca: authority.ca, serverName: 'smsc.example' } }));
    await good.bound();
    assert.equal((await good.carrier.submit(partToSubmit())).kind, 'accepted');
    let ends = 0;
    const random = () => {
      ends += 1;
      return 0.999;
    };
    const wrong = connectTestCarrier(t, smppSettings(port, { tls: { ca: authority.ca } }), { random });
    const unknown = connectTestCarrier(t, smppSettings(port, { tls: { serverName: 'smsc.example' } }), { random });
    const broken = connectTestCarrier(t, smppSettings(port, { tls: { ca: 'no certificate' } }), { random });
    const nowhere = connectTestCarrier(t, smppSettings(65_536), { random });
    await eventually('each has failed', () => ends === 4);
    assert.deepEqual(
      [wrong, unknown, broken, nowhere].map(({ states }) => states),
      [[], [], [], []],
    );
    assert.equal(smsc.count('bind'), 1);
  });
});

/** A session alone, without what connects again. */
function sessionAt(port: number, dialect: SmppDialect) {
  const { promise: bound, resolve } = Promise.withResolvers<void>();
  const transport = openSocket(
    { host: '127.0.0.1', port },
    {
      opened: () => session.opened(),
      received: (octets) => session.received(octets),
      closed: (it) => session.closed(it),
    },
  );
  const session: WireSession<DecodedPdu, SmppRequest> = new WireSession({
    ...{ dialect, times: SESSION_TIMES, timers: systemTimers, transport },
    events: { bound: () => resolve(), deliver: async () => true, ended: () => {} },
  });
  return { session, bound };
}

async function begin(
  t: TestContext,
  options: SmscOptions = {},
  settings: Partial<SmppSettings> = {},
  tools: Partial<CarrierTools> = {},
  isBound = true,
): Promise<TestCarrier & { readonly smsc: Smsc }> {
  const smsc = await startSmsc(t, options);
  const connected = connectTestCarrier(t, smppSettings(smsc.port, settings), tools);
  if (isBound) await connected.bound();
  return { ...connected, smsc };
}
