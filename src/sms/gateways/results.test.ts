import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ResultClass } from '#model/sms-connector.ts';
import { beginGatewaySession, dialectOf, GATEWAY_KINDS } from '../../../test/support/sms/gateway-dialects.ts';
import { type GatewayKind, PROTOCOLS } from '../../../test/support/sms/gateway-protocols.ts';
import type { RefusalClass } from '../carrier.ts';

const CMPP: readonly (readonly [RefusalClass, readonly number[]])[] = [
  ['throttled', [8]],
  ['transient', [3, 100, 255]],
  ['permanent', [4, 6, 12, 13, 99]],
  ['misconfigured', [1, 2, 5, 7, 9, 10, 11]],
];

const ROWS: Readonly<Record<GatewayKind, readonly (readonly [RefusalClass, readonly number[]])[]>> = {
  cmpp2: CMPP,
  cmpp3: [...CMPP, ['transient', [256, 1001]]],
  smgp: [
    ['throttled', [1, 74, 75]],
    ['transient', [12, 39, 58]],
    ['permanent', [30, 31, 32, 33, 34, 35, 36, 37, 44, 45, 47, 48, 200]],
    ['misconfigured', [10, 11, 20, 21, 22, 40, 43, 46, 69, 73, 76]],
  ],
  sgip: [
    ['throttled', [11, 33, 88]],
    ['transient', [9, 21, 22, 23, 32]],
    ['permanent', [5, 6, 8, 200]],
    ['misconfigured', [1, 2, 4, 7, 10, 24]],
  ],
};

for (const kind of GATEWAY_KINDS) {
  const name = kind.replace(/\d/, '');

  test(`results of ${kind} by class`, async () => {
    for (const [refusalClass, results] of ROWS[kind])
      for (const result of results)
        assert.deepEqual(await outcomeOf(kind, result), {
          kind: 'refused',
          status: `${name}:${result}`,
          class: refusalClass,
        });
  });

  test(`results of ${kind} that the connector says itself`, async () => {
    const results = { 13: 'throttled', 6: 'throttled', 47: 'throttled' } as const;
    const result = kind === 'smgp' ? 47 : kind === 'sgip' ? 6 : 13;
    const outcome = await outcomeOf(kind, result, results);
    assert.deepEqual(outcome, { kind: 'refused', status: `${name}:${result}`, class: 'throttled' });
  });

  test(`an answer of ${kind} without an id, or cut, is an acceptance`, async () => {
    const it = beginGatewaySession(kind);
    const { submit, outcome } = it.submit();
    const whole = it.protocol.submitAnswer(submit, Buffer.alloc(it.protocol.idOf(submit, 1).length), 0);
    const octets = Buffer.from(whole.subarray(0, it.protocol.headerOctets));
    octets.writeUInt32BE(octets.length);
    it.receive(octets);
    const accepted = await outcome;
    assert.ok(accepted.kind === 'accepted');
    assert.equal(accepted.keys.length, kind === 'sgip' ? 1 : 0);
  });

  test(`a login of ${kind} with a wrong password is refused in words, and not tried again at once`, () => {
    const dialect = dialectOf(kind, { password: 'wrong' });
    const login = dialect.login();
    const octets = dialect.encode(
      login,
      dialect.sequences()(login, () => false),
    );
    const protocol = PROTOCOLS[kind];
    const status = protocol.login(octets, 'secret');
    assert.notEqual(status, 0);
    const answer = dialect.decode(protocol.loginAnswer(octets, status, 'secret'));
    assert.ok(dialect.answers(answer, login.command));
    const welcome = dialect.welcome(answer);
    assert.ok(welcome.kind === 'refused' && welcome.isLasting);
    assert.match(welcome.reason, /wrong account or password/);
    if (kind !== 'sgip') assert.match(welcome.reason, /our time: 0301000005/);
  });

  test(`a gateway of ${kind} that does not prove itself is warned of, and one that does is not`, () => {
    const it = beginGatewaySession(kind);
    assert.deepEqual(it.warnings, [undefined]);
    const login = it.dialect.login();
    const octets = it.dialect.encode(
      login,
      it.dialect.sequences()(login, () => false),
    );
    const welcome = it.dialect.welcome(it.dialect.decode(it.protocol.loginAnswer(octets, 0, 'other')));
    assert.deepEqual([welcome.kind, 'warning' in welcome], ['welcome', kind !== 'sgip']);
  });
}

async function outcomeOf(kind: GatewayKind, result: number, results: Readonly<Record<string, ResultClass>> = {}) {
  const it = beginGatewaySession(kind, { results });
  const { submit, outcome } = it.submit();
  it.receive(it.protocol.submitAnswer(submit, it.protocol.idOf(submit, 1), result));
  return await outcome;
}

test('gateways that answer in the layout of the other version are understood', async () => {
  for (const [own, other] of [
    ['cmpp2', 'cmpp3'],
    ['cmpp3', 'cmpp2'],
  ] as const) {
    const dialect = dialectOf(own);
    const login = dialect.encode(dialect.login(), 1);
    const welcome = dialect.welcome(dialect.decode(PROTOCOLS[other].loginAnswer(login, 3, 'secret')));
    assert.ok(welcome.kind === 'refused' && welcome.reason.startsWith('status 3'), own);
    const it = beginGatewaySession(own);
    const { submit, outcome } = it.submit();
    it.receive(PROTOCOLS[other].submitAnswer(submit, Buffer.from('be9ccd4000025dee', 'hex'), 13));
    assert.deepEqual(await outcome, { kind: 'refused', status: 'cmpp:13', class: 'permanent' }, own);
  }
});

test('an account that is shorter than its field', () => {
  const digestOf = (accountPadding: 'none' | '6') => {
    const login = dialectOf('cmpp3', { account: '9001', accountPadding } as object).login();
    return 'fields' in login ? JSON.stringify(login.fields) : '';
  };
  assert.notEqual(digestOf('none'), digestOf('6'));
});
