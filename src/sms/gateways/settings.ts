/** What the dialects of CMPP, SMGP and SGIP read of a connector's settings. */
import type { GatewaySettings } from '#model/sms-connector.ts';

export type GatewayFields = Pick<
  GatewaySettings,
  | 'account'
  | 'password'
  | 'corpId'
  | 'serviceId'
  | 'feeType'
  | 'feeCode'
  | 'receipts'
  | 'coding'
  | 'udhiValue'
  | 'numberForm'
  | 'results'
  | 'statusWords'
  | 'receiptNumber'
  | 'again'
>;
