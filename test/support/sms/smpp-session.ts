/** A session over octets and time, without a socket. */
import assert from 'node:assert/strict';
import type { SmppSettings } from '#model/sms-connector.ts';
import { type DecodedPdu, decodePdu } from '#sms/smpp/decode.ts';
import { smppDialect } from '#sms/smpp/dialect.ts';
import { encodePdu } from '#sms/smpp/encode.ts';
import { type Command, type Fields, LAYOUTS, type Pdu } from '#sms/smpp/layouts.ts';
import type { SmppRequest } from '#sms/smpp/request.ts';
import type { WireAnswer } from '#sms/wire/pending.ts';
import { type SessionEnd, type SessionTimes, WireSession } from '#sms/wire/session.ts';
import { createManualTimers } from '../timers.ts';
import { smppSettings } from './carrier.ts';

export const SESSION_TIMES = { bindMs: 10_000, enquireMs: 30_000, inactivityMs: 40_000, responseMs: 30_000 };

export const MESSAGE: Fields<'submitSm'> = {
  serviceType: '',
  sourceAddrTon: 0,
  sourceAddrNpi: 0,
  sourceAddr: '1069',
  destAddrTon: 1,
  destAddrNpi: 1,
  destinationAddr: '8613800138000',
  esmClass: 0,
  protocolId: 0,
  priorityFlag: 0,
  scheduleDeliveryTime: '',
  validityPeriod: '',
  registeredDelivery: 1,
  replaceIfPresentFlag: 0,
  dataCoding: 8,
  smDefaultMsgId: 0,
  shortMessage: Buffer.from('4f60', 'hex'),
};

interface SessionChanges {
  readonly settings?: Partial<SmppSettings>;
  readonly times?: SessionTimes;
  /** The sequence number before the first. */
  readonly previousSequence?: number;
}

/** Begins a session whose connection stands and whose bind is sent. */
export function beginSession(
  { settings = {}, times = SESSION_TIMES, previousSequence = 0 }: SessionChanges = {},
  deliver: (packet: DecodedPdu, frame: Buffer) => Promise<boolean> = async () => true,
) {
  const timers = createManualTimers();
  const written: Buffer[] = [];
  const ends: SessionEnd[] = [];
  const holds: boolean[] = [];
  let hasEnded = false;
  const transport = {
    write: (octets: Buffer) => void written.push(octets),
    hold: (isHeld: boolean) => void holds.push(isHeld),
    end: () => {
      hasEnded = true;
    },
  };
  const events = { bound: () => {}, deliver, ended: (end: SessionEnd) => void ends.push(end) };
  const dialect = smppDialect(smppSettings(2775, settings), 'bindTransceiver', previousSequence);
  const session = new WireSession({ dialect, times, timers, transport, events });
  session.opened();
  const ask = <C extends Command>(command: C, fields: Fields<C>, sequence: number, status = 0) =>
    session.received(encodePdu({ command, status, sequence, fields, tlvs: [] }));
  const sent = (): Pdu[] =>
    written.map((octets) => decodePdu(octets)).flatMap((it) => (it.kind === 'pdu' ? [it.pdu] : []));
  return {
    session,
    timers,
    ends,
    holds,
    sent,
    ask,
    hasEnded: () => hasEnded,
    receive: (octets: Buffer) => session.received(octets),
    submit: (late: (packet: DecodedPdu) => void = () => {}) => session.submit(SUBMIT, late),
    /** Answers the PDU that was sent last, unless a sequence number is given. */
    answer: <C extends Command>(command: C, fields: Fields<C>, status = 0, sequence = sent().at(-1)?.sequence ?? 0) => {
      assert.ok(LAYOUTS[command].id >= 0x80000000);
      ask(command, fields, sequence, status);
    },
  };
}

const SUBMIT: SmppRequest = { kind: 'request', command: 'submitSm', fields: MESSAGE, tlvs: [] };

/** The message id of an accepted part. */
export function idOf(answer: WireAnswer<DecodedPdu>): string | undefined {
  const pdu = pduOf(answer);
  return pdu?.command === 'submitSmResp' ? pdu.fields.messageId : undefined;
}

export function pduOf(answer: WireAnswer<DecodedPdu>): Pdu | undefined {
  return answer.kind === 'answered' && answer.packet.kind === 'pdu' ? answer.packet.pdu : undefined;
}
