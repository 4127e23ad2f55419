/** Composes the submit of a part. Pure. */
import type { PartToSubmit } from '../carrier.ts';
import { composeGatewayMessage, type WrongField } from '../gateways/message.ts';
import type { GatewayRefusal } from '../gateways/refusal.ts';
import type { GatewayFields } from '../gateways/settings.ts';
import type { SmgpRequestOf } from './request.ts';
import { SMGP_STATUS, smgpRefusal } from './statuses.ts';
import { msgSrcTlv, SMGP_TAGS, smgpNumberTlv } from './tlvs.ts';

const TO_A_PHONE = 6;
const NORMAL = 1;

const REFUSALS: Readonly<Record<WrongField, number>> = {
  sender: SMGP_STATUS.wrongSender,
  number: SMGP_STATUS.wrongNumber,
  length: SMGP_STATUS.wrongLength,
};

export function composeSmgpSubmit(
  part: PartToSubmit,
  settings: GatewayFields,
): SmgpRequestOf<'submit'> | GatewayRefusal {
  const message = composeGatewayMessage(part, settings);
  if (typeof message === 'string') return smgpRefusal(REFUSALS[message], {});
  const { sender, number, coding, content, udhi } = message;
  const { serviceId, feeType, feeCode } = settings;
  const fields = {
    ...{ msgType: TO_A_PHONE, needReport: settings.receipts === 'none' ? 0 : 1, priority: NORMAL },
    ...{ serviceId, feeType, feeCode, fixedFee: '0', msgFormat: coding, validTime: '', atTime: '' },
    ...{ srcTermId: sender, chargeTermId: '', destTermId: [number], msgContent: content, reserve: '' },
  };
  const source = msgSrcTlv(settings.corpId ?? settings.account);
  const long = [
    smgpNumberTlv(SMGP_TAGS.tpUdhi, udhi),
    smgpNumberTlv(SMGP_TAGS.pkTotal, part.parts),
    smgpNumberTlv(SMGP_TAGS.pkNumber, part.part),
  ];
  return { kind: 'request', command: 'submit', fields, tlvs: Buffer.concat(udhi === 0 ? [source] : [...long, source]) };
}
