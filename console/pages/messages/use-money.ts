/** Formats amounts of the account: without a currency for those who may not see its money. */
import { formatAmount } from '../../lib/format-amount.ts';
import { useRead } from '../../queries.ts';
import { usePreference, useSession } from '../../services.tsx';

const NO_CURRENCY = { currency: '', currency_units: 1 };

type Format = (amount: number) => string;

export function useMoney(): Format {
  const locale = usePreference('locale');
  const isEnabled = useSession().access.includes('money');
  const load = useRead('sms.balance', {}, { isEnabled });
  const money = load.kind === 'ready' ? load.data : NO_CURRENCY;
  return (amount) => formatAmount(amount, money, locale);
}
