/** `sms.listApps`, `sms.listLedger` and `sms.split`: an account's services and money, and what a text would cost. */
import { listSmsApps } from '#db/tables/sms/apps.ts';
import { listSmsLedger, listSmsPrices, readSmsBalance } from '#db/tables/sms/balance.ts';
import { findOptedOut } from '#db/tables/sms/opt-outs.ts';
import type { SmsApp } from '#model/sms-app.ts';
import { type AskedMessage, composeMessage, splitContent } from '#sms/compose.ts';
import { findPrice } from '#sms/price.ts';
import { toSmsRefusal } from '../sms/sms-refusals.ts';
import { findAppOrRefuse } from './find-sms-app.ts';
import type { Handler } from './handler.ts';

type AccountRoute = 'sms.listApps' | 'sms.listLedger' | 'sms.split';

/** Stands for a number that no price but that of all numbers covers. */
const ANY_NUMBER = '';

export const SMS_ACCOUNT_HANDLERS = {
  'sms.listApps': ({ db, accountId }, page) => listSmsApps(db.query, { ...page, accountId }),

  'sms.listLedger': async ({ db, accountId, currency }, { before, limit }) => {
    const entries = await listSmsLedger(db.query, { accountId, before, limit });
    return { balance: await readSmsBalance(db.query, accountId), entries, currency };
  },

  'sms.split': async (call, { appKey, mobile, ...asked }) => {
    const { db, accountId, currency } = call;
    const app = await findAppOrRefuse(db.query, call, appKey);
    const { parts, numbers } = compose({ ...asked, mobile }, app);
    const optedOut = asked.kind === 'advertising' ? await findOptedOut(db.query, accountId, numbers) : new Set();
    const sentTo = numbers.filter((number) => !optedOut.has(number));
    const prices = await listSmsPrices(db.query);
    const each = sentTo.reduce((sum, number) => sum + (findPrice(prices, asked.kind, number)?.price ?? 0), 0);
    return { parts, numbers: sentTo.length, optedOut: optedOut.size, price: parts.length * each, currency };
  },
} satisfies { readonly [N in AccountRoute]: Handler<N> };

interface AskedText extends Pick<AskedMessage, 'kind' | 'content'> {
  readonly mobile: string | undefined;
}

function compose({ kind, content, mobile }: AskedText, { appKey, settings }: SmsApp) {
  if (mobile === undefined) {
    const split = splitContent({ kind, content }, settings);
    if (split.kind === 'invalid') throw toSmsRefusal({ kind: 'contentInvalid', reason: split.reason }, appKey);
    return { parts: split.parts, numbers: [ANY_NUMBER] };
  }
  const composed = composeMessage({ kind, content, mobile, smsType: 1 }, settings);
  if (composed.kind !== 'message') throw toSmsRefusal(composed, appKey);
  return composed;
}
