/** Whether an account may act. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';

type Account = DataOf<'operator.listAccounts'>['list'][number];

export function AccountState({ account: { enabled } }: { readonly account: Pick<Account, 'enabled'> }) {
  const t = useText(accountsText);
  return enabled === '1' ? <Badge tone="ok">{t.enabled}</Badge> : <Badge tone="bad">{t.disabled}</Badge>;
}
