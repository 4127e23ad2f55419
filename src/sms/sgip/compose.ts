/** Composes the submit of a part. Pure. */
import type { PartToSubmit } from '../carrier.ts';
import { composeGatewayMessage, type WrongField } from '../gateways/message.ts';
import type { GatewayRefusal } from '../gateways/refusal.ts';
import type { SgipRequestOf } from './request.ts';
import { SGIP_RESULT, sgipRefusal } from './results.ts';
import type { SgipFields } from './settings.ts';

/** The sender pays, not the phone. */
const SENDER_PAYS = '0'.repeat(21);
/** No phone has asked for the message. */
const UNASKED = 2;
const REPORT_FLAGS = { all: 1, failures: 0, none: 2 } as const;

const REFUSALS: Readonly<Record<WrongField, number>> = {
  sender: SGIP_RESULT.wrongForm,
  number: SGIP_RESULT.wrongNumber,
  length: SGIP_RESULT.wrongLength,
};

export function composeSgipSubmit(part: PartToSubmit, settings: SgipFields): SgipRequestOf<'submit'> | GatewayRefusal {
  const message = composeGatewayMessage(part, settings);
  if (typeof message === 'string') return sgipRefusal(REFUSALS[message], {});
  const { sender, number, coding, content, udhi } = message;
  const fields = {
    ...{ spNumber: sender, chargeNumber: SENDER_PAYS, userNumber: [number] },
    ...{ corpId: settings.corpId ?? settings.account, serviceType: settings.serviceId },
    ...{ feeType: Number(settings.feeType), feeValue: settings.feeCode, givenValue: '0', agentFlag: 0 },
    ...{ moRelateToMtFlag: UNASKED, priority: 0, expireTime: '', scheduleTime: '' },
    ...{ reportFlag: REPORT_FLAGS[settings.receipts], tpPid: 0, tpUdhi: udhi, messageCoding: coding },
    ...{ messageType: 0, messageContent: content, reserve: '' },
  };
  return { kind: 'request', command: 'submit', fields, partId: part.partId };
}
