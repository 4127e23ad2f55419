/** The domains of all accounts, found by a part of their name: whose is it? */
import { useLocation, useSearch } from 'wouter';
import { SearchInput } from '../../../components/input.tsx';
import { Empty } from '../../../components/loaded.tsx';
import { Page } from '../../../components/page.tsx';
import { Select } from '../../../components/select.tsx';
import { useTyped } from '../../../lib/use-typed.ts';
import { DOMAIN_STATUSES } from '../../../routes/domains.ts';
import { type AllDomainsQuery, allDomainsPath, readAllDomainsQuery } from '../../../routes/operators.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { domainsText } from '../../../text/domains.ts';
import { shellText } from '../../../text/shell.ts';
import { DomainList } from './domain-list.tsx';

export function AllDomains() {
  const t = useText(accountsText);
  const words = useText(domainsText);
  const { allDomains: title } = useText(shellText).pages;
  const [, navigate] = useLocation();
  const query = readAllDomainsQuery(useSearch());
  const { name, status, page } = query;
  const change = (next: Partial<AllDomainsQuery>) =>
    navigate(allDomainsPath({ ...query, page: 1, ...next }), { replace: true });
  const typed = useTyped(name, (text) => change({ name: text }));
  return (
    <Page title={title}>
      <search className="row">
        <SearchInput label={words.filter} {...typed} />
        <Select
          label={words.status}
          choices={DOMAIN_STATUSES.map((value) => ({ value, label: words.statuses[value] }))}
          value={status}
          onChange={(value) => change({ status: value })}
        />
      </search>
      <DomainList
        request={{ name, ...(status !== '' && { domain_status: status }) }}
        page={page}
        pathOf={(other) => allDomainsPath({ ...query, page: other })}
        empty={<Empty icon="search" title={t.noDomainMatches} />}
      />
    </Page>
  );
}
