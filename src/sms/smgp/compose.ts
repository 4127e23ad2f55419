/** Composes the submit of a part. Pure. */
import type { PartToSubmit } from '../carrier.ts';
import { composeMessage, type WrongField } from '../gateways/message.ts';
import type { Refusal } from '../gateways/refusal.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import type { SmgpRequestOf } from './dialect.ts';
import { STATUS, smgpRefusal } from './statuses.ts';
import { msgSrcTlv, numberTlv, TAGS } from './tlvs.ts';

const TO_A_PHONE = 6;
const NORMAL = 1;

const REFUSALS: Readonly<Record<WrongField, number>> = {
  sender: STATUS.wrongSender,
  number: STATUS.wrongNumber,
  length: STATUS.wrongLength,
};

export function composeSubmit(part: PartToSubmit, settings: GatewayFields): SmgpRequestOf<'submit'> | Refusal {
  const message = composeMessage(part, settings);
  if (typeof message === 'string') return smgpRefusal(REFUSALS[message], {});
  const { sender, number, coding, content, udhi } = message;
  const { serviceId, feeType, feeCode } = settings;
  const fields = {
    ...{ msgType: TO_A_PHONE, needReport: settings.receipts === 'none' ? 0 : 1, priority: NORMAL },
    ...{ serviceId, feeType, feeCode, fixedFee: '0', msgFormat: coding, validTime: '', atTime: '' },
    ...{ srcTermId: sender, chargeTermId: '', destTermId: [number], msgContent: content, reserve: '' },
  };
  const source = msgSrcTlv(settings.corpId ?? settings.account);
  const long = [numberTlv(TAGS.tpUdhi, udhi), numberTlv(TAGS.pkTotal, part.parts), numberTlv(TAGS.pkNumber, part.part)];
  return { kind: 'request', command: 'submit', fields, tlvs: Buffer.concat(udhi === 0 ? [source] : [...long, source]) };
}
