/** The dialects of gateways with settings of tests, and sessions of them over octets and time. */
import assert from 'node:assert/strict';
import { cmppDialect } from '#sms/cmpp/dialect.ts';
import type { CmppFields } from '#sms/cmpp/settings.ts';
import type { GatewayFields } from '#sms/gateways/settings.ts';
import { sgipDialect } from '#sms/sgip/dialect.ts';
import type { SgipFields } from '#sms/sgip/settings.ts';
import { smgpDialect } from '#sms/smgp/dialect.ts';
import type { Delivery, Dialect, WireRequest } from '#sms/wire/dialect.ts';
import { type SessionEnd, WireSession } from '#sms/wire/session.ts';
import { createManualTimers } from '../timers.ts';
import { partToSubmit } from './carrier.ts';
import { type GatewayKind, PROTOCOLS, type ReadSubmit, TEST_NODE } from './gateway-protocols.ts';
import { SESSION_TIMES } from './smpp-session.ts';

export const GATEWAY_KINDS: readonly GatewayKind[] = ['cmpp2', 'cmpp3', 'smgp', 'sgip'];

const FIELDS: GatewayFields = {
  ...{ account: '900001', password: 'secret', serviceId: 'SVC', feeType: '01', feeCode: '0', receipts: 'all' },
  ...{ coding: 'ucs2', udhiValue: 1, numberForm: 'bare', results: {}, statusWords: [], receiptNumber: 'check' },
  again: 'silence',
};

export function cmppFields(kind: CmppFields['kind'], changed: Partial<CmppFields> = {}): CmppFields {
  return { ...FIELDS, kind, feeUserType: 2, pk: 'parts', accountPadding: 'none', ...changed };
}

export function smgpFields(changed: Partial<GatewayFields> = {}): GatewayFields {
  return { ...FIELDS, account: '12345678', feeType: '00', ...changed };
}

export function sgipFields(changed: Partial<SgipFields> = {}): SgipFields {
  return {
    ...FIELDS,
    account: 'customer',
    corpId: '12345',
    node: TEST_NODE,
    feeType: '1',
    numberForm: '86',
    ...changed,
  };
}

/** 1 March 2026, 00:00:05 in Beijing: the stamp of a login begins with a zero. */
export const NOW = Date.UTC(2026, 1, 28, 16, 0, 5);

/** `as`: a test that runs for all of them knows nothing of their packets. */
export function dialectOf(kind: GatewayKind, changed: Partial<GatewayFields> = {}): Dialect<unknown, WireRequest> {
  const clock = () => NOW;
  const dialect =
    kind === 'smgp'
      ? smgpDialect(smgpFields(changed), clock)
      : kind === 'sgip'
        ? sgipDialect(sgipFields(changed), clock)
        : cmppDialect(cmppFields(kind, changed), clock);
  return dialect as unknown as Dialect<unknown, WireRequest>;
}

/** Begins a session whose login is accepted. `deliver` says whether a delivery is stored. */
export function beginGatewaySession(
  kind: GatewayKind,
  changed: Partial<GatewayFields> = {},
  deliver: (delivery: Delivery | undefined) => Promise<boolean> = async () => true,
) {
  const protocol = PROTOCOLS[kind];
  const dialect = dialectOf(kind, changed);
  const timers = createManualTimers();
  const written: Buffer[] = [];
  const ends: SessionEnd[] = [];
  const warnings: (string | undefined)[] = [];
  const session = new WireSession({
    ...{ dialect, times: SESSION_TIMES, timers },
    transport: { write: (octets: Buffer) => void written.push(octets), hold: () => {}, end: () => {} },
    events: {
      bound: (warning: string | undefined) => void warnings.push(warning),
      deliver: (packet: unknown, frame: Buffer) => deliver(dialect.readDelivery(packet, frame)),
      ended: (end: SessionEnd) => void ends.push(end),
    },
  });
  session.opened();
  const [login = Buffer.alloc(0)] = written;
  session.received(protocol.loginAnswer(login, protocol.login(login, 'secret'), 'secret'));
  return {
    ...{ session, timers, written, ends, warnings, dialect, protocol },
    receive: (octets: Buffer) => session.received(octets),
    /** Sends a part; resolves with the packet that was sent and what becomes of it. */
    submit(partId = 1) {
      const request = dialect.compose(partToSubmit({ partId }));
      assert.ok(request.kind === 'request');
      const answered = session.submit(request, () => {});
      const submit: ReadSubmit = protocol.readSubmit(written.at(-1) ?? Buffer.alloc(0));
      const outcome = answered.then((it) => (it.kind === 'answered' ? dialect.outcomeOf(it.packet) : it));
      return { submit, outcome };
    },
  };
}
