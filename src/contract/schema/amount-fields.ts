/** Fields of amounts and of instants in answers. */
import * as z from 'zod';

export const MILLISECONDS = z.int();

/** The currency of amounts, as the operator set it (sms-currency). */
export const CURRENCY_DATA = {
  currency: z.string().describe('currency of amounts (ISO 4217); empty: the operator named none'),
  currency_units: z.int().describe('how many of the smallest unit, in which amounts are, make one of the currency'),
};
export const SAMPLE_CURRENCY = { currency: 'CNY', currency_units: 100 };

export const LEDGER_ENTRY = z
  .object({
    entry_id: z.string().describe('pass the last one as `before` for the next page'),
    kind: z.string().describe('recharge, hold, charge (0: already held) or refund'),
    amount: z.int(),
    create_time: z.string().describe("YYYY-MM-DD HH:MM:SS in the service's time zone"),
    sendid: z.string().describe('empty for a recharge, and if the request is no longer stored'),
    mobile: z.string(),
    part: z.int().describe('0 for a recharge'),
    reference: z.string().describe('reference of a recharge, if it has one'),
  })
  .meta({ id: 'SmsLedgerEntry' });
export const SAMPLE_ENTRY = {
  entry_id: '1',
  kind: 'recharge',
  amount: 1000,
  create_time: '2026-01-31 12:00:00',
  sendid: '',
  mobile: '',
  part: 0,
  reference: '',
};
