/** Composes the submit of a part. Pure. */
import type { PartToSubmit } from '../carrier.ts';
import { composeGatewayMessage, type WrongField } from '../gateways/message.ts';
import type { GatewayRefusal } from '../gateways/refusal.ts';
import type { CmppRequestOf } from './request.ts';
import { CMPP_RESULT, cmppRefusal } from './results.ts';
import type { CmppFields } from './settings.ts';

const REFUSALS: Readonly<Record<WrongField, number>> = {
  sender: CMPP_RESULT.wrongSender,
  number: CMPP_RESULT.wrongNumber,
  length: CMPP_RESULT.wrongLength,
};

export function composeCmppSubmit(part: PartToSubmit, settings: CmppFields): CmppRequestOf<'submit'> | GatewayRefusal {
  const message = composeGatewayMessage(part, settings);
  if (typeof message === 'string') return cmppRefusal(REFUSALS[message], {});
  const { sender, number, coding, content, udhi } = message;
  const isCounted = settings.pk === 'parts';
  const fields = {
    ...{ msgId: '', pkTotal: isCounted ? part.parts : 1, pkNumber: isCounted ? part.part : 1 },
    ...{ registeredDelivery: settings.receipts === 'none' ? 0 : 1, msgLevel: 0, serviceId: settings.serviceId },
    ...{ feeUserType: settings.feeUserType, feeTerminalId: '', feeTerminalType: 0 },
    ...{ tpPid: 0, tpUdhi: udhi, msgFmt: coding, msgSrc: settings.corpId ?? settings.account },
    ...{ feeType: settings.feeType, feeCode: settings.feeCode, validTime: '', atTime: '', srcId: sender },
    ...{ destTerminalId: [number], destTerminalType: 0, msgContent: content, linkId: '' },
  };
  return { kind: 'request', command: 'submit', fields };
}
