/** Domains of an account. */
import { useSearch } from 'wouter';
import { Empty } from '../../../components/loaded.tsx';
import { accountPath, readPageQuery } from '../../../routes/operators.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { DomainList } from './domain-list.tsx';

export function AccountDomains({ accountId }: { readonly accountId: string }) {
  const t = useText(accountsText);
  const { page } = readPageQuery(useSearch());
  return (
    <DomainList
      request={{ account_id: accountId }}
      page={page}
      pathOf={(other) => accountPath(accountId, 'domains', other)}
      empty={<Empty icon="domains" title={t.noDomains} />}
    />
  );
}
