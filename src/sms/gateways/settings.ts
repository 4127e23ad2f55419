/** What the dialects of CMPP, SMGP and SGIP read of a connector's settings. */
import type { StatusWord } from '#model/sms-status-words.ts';
import type { RefusalClass } from '../carrier.ts';

export interface GatewayFields {
  readonly account: string;
  readonly password: string;
  /** The enterprise's code; absent: the account. */
  readonly corpId?: string;
  readonly serviceId: string;
  readonly feeType: string;
  readonly feeCode: string;
  readonly receipts: 'all' | 'failures' | 'none';
  readonly coding: 'ucs2' | 'gb18030' | 'auto';
  readonly udhiValue: 1 | 64;
  readonly numberForm: 'bare' | '86' | 'plus86';
  readonly results: Readonly<Record<string, RefusalClass>>;
  readonly statusWords: readonly StatusWord[];
  readonly receiptNumber: 'check' | 'ignore';
  readonly again: 'silence' | 'busy';
}
