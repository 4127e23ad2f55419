/** Domains as operators see them: those of an account, or of all. */
import { type ReactNode, useState } from 'react';
import { Link } from 'wouter';
import type { CallOf } from '#contract/operations.ts';
import { Card } from '../../../components/card.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { useRead } from '../../../queries.ts';
import { accountPath } from '../../../routes/operators.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { DomainState } from '../../domains/domain-state.tsx';
import { type Asked, AskedDialog, type Domain, DomainActs } from './domain-acts.tsx';

interface DomainListProps {
  /** What they are narrowed to. */
  readonly request: CallOf<'operator.listDomains'>;
  readonly page: number;
  readonly pathOf: (page: number) => string;
  readonly empty: ReactNode;
}

const PAGE_SIZE = 50;

export function DomainList({ request, page, pathOf, empty }: DomainListProps) {
  const t = useText(accountsText);
  const [asked, setAsked] = useState<Asked>();
  const whole = { ...request, page, page_size: PAGE_SIZE };
  const load = useRead('operator.listDomains', whole, { keepsPrevious: true });
  const columns = useColumns(setAsked, request.account_id === undefined);
  return (
    <Card title={t.domains} isFlush>
      <Loaded load={load} lines={6} isEmpty={({ list }) => list.length === 0} empty={empty}>
        {({ list, total }) => (
          <>
            <Table label={t.domains} columns={columns} rows={list} keyOf={({ domain_id }) => domain_id} />
            <Pager {...{ page, total, pathOf }} pageSize={PAGE_SIZE} />
          </>
        )}
      </Loaded>
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

function useColumns(onAsk: (asked: Asked) => void, hasAccounts: boolean): readonly Column<Domain>[] {
  const t = useText(accountsText);
  const account: Column<Domain> = {
    id: 'account',
    title: t.account,
    show: ({ account_id }) => <Link href={accountPath(account_id, 'domains')}>{account_id}</Link>,
  };
  return [
    {
      id: 'domain',
      title: t.domain,
      phone: 'first',
      show: ({ domain_name }) => <span className="mono wrap">{domain_name}</span>,
    },
    ...(hasAccounts ? [account] : []),
    { id: 'state', title: t.state, show: (domain) => <DomainState domain={domain} /> },
    { id: 'type', title: t.type, phone: 'hidden', show: ({ cdn_type }) => <span className="dim">{cdn_type}</span> },
    {
      id: 'origin',
      title: t.origin,
      phone: 'hidden',
      show: ({ origin }) => <span className="mono wrap">{origin.join(', ')}</span>,
    },
    { id: 'created', title: t.createdAt, phone: 'hidden', show: ({ create_time }) => create_time },
    {
      id: 'actions',
      title: t.actions,
      phone: 'second',
      show: (domain) => <DomainActs domain={domain} onAsk={onAsk} />,
    },
  ];
}
