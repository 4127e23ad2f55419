/** A session over octets and time, without a socket. */
import assert from 'node:assert/strict';
import { decodePdu } from '#sms/smpp/decode.ts';
import { encodePdu } from '#sms/smpp/encode.ts';
import { type Command, type Fields, LAYOUTS, type Pdu } from '#sms/smpp/layouts.ts';
import type { PduAnswer } from '#sms/smpp/pending.ts';
import { type Deliver, type SessionEnd, SmppSession, type SmppSessionOptions } from '#sms/smpp/session.ts';
import { createManualTimers } from '../timers.ts';
import { BIND, SESSION_TIMES } from './bind.ts';

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

/** Begins a session whose connection stands and whose bind is sent. */
export function beginSession(
  options: Partial<SmppSessionOptions> = {},
  deliver: (delivery: Deliver) => Promise<boolean> = async () => true,
) {
  const timers = createManualTimers();
  const written: Buffer[] = [];
  const ends: SessionEnd[] = [];
  let hasEnded = false;
  const transport = {
    write: (octets: Buffer) => void written.push(octets),
    end: () => {
      hasEnded = true;
    },
  };
  const events = { bound: () => {}, deliver, ended: (end: SessionEnd) => void ends.push(end) };
  const session = new SmppSession({
    command: 'bindTransceiver',
    bind: BIND,
    times: SESSION_TIMES,
    timers,
    transport,
    events,
    ...options,
  });
  session.opened();
  const ask = <C extends Command>(command: C, fields: Fields<C>, sequence: number, status = 0) =>
    session.received(encodePdu({ command, status, sequence, fields, tlvs: [] }));
  const sent = (): Pdu[] =>
    written.map((octets) => decodePdu(octets)).flatMap((it) => (it.kind === 'pdu' ? [it.pdu] : []));
  return {
    session,
    timers,
    ends,
    sent,
    ask,
    hasEnded: () => hasEnded,
    receive: (octets: Buffer) => session.received(octets),
    submit: () => session.submit(MESSAGE, [], () => {}),
    /** Answers the PDU that was sent last, unless a sequence number is given. */
    answer: <C extends Command>(command: C, fields: Fields<C>, status = 0, sequence = sent().at(-1)?.sequence ?? 0) => {
      assert.ok(LAYOUTS[command].id >= 0x80000000);
      ask(command, fields, sequence, status);
    },
  };
}

/** The message id of an accepted part. */
export function idOf(answer: PduAnswer): string | undefined {
  return answer.kind === 'answered' && answer.pdu.command === 'submitSmResp' ? answer.pdu.fields.messageId : undefined;
}
