/** The SMS services of all accounts: whose key it is that a log or a customer names. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../../components/badge.tsx';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { useRead } from '../../../queries.ts';
import { accountPath, connectorsPath } from '../../../routes/operators.ts';
import { useText } from '../../../text/catalogue.ts';
import { connectorsText } from '../../../text/connectors.ts';

type Service = DataOf<'smsOperator.listApps'>['list'][number];

const PAGE_SIZE = 50;

export function AllServices({ page }: { readonly page: number }) {
  const t = useText(connectorsText);
  const load = useRead('smsOperator.listApps', { page, page_size: PAGE_SIZE }, { keepsPrevious: true });
  const columns = useColumns();
  return (
    <>
      <p className="help">{t.servicesHelp}</p>
      <Card title={t.views.services} isFlush>
        <Loaded
          load={load}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="services" title={t.noServices} />}
        >
          {({ list, total }) => (
            <>
              <Table label={t.views.services} columns={columns} rows={list} keyOf={({ app_key }) => app_key} />
              <Pager
                {...{ page, total }}
                pageSize={PAGE_SIZE}
                pathOf={(other) => connectorsPath({ view: 'services', page: other })}
              />
            </>
          )}
        </Loaded>
      </Card>
    </>
  );
}

function useColumns(): readonly Column<Service>[] {
  const t = useText(connectorsText);
  return [
    { id: 'name', title: t.service, phone: 'first', show: ({ name }) => name },
    { id: 'key', title: t.appKey, show: ({ app_key }) => <span className="mono wrap">{app_key}</span> },
    {
      id: 'account',
      title: t.account,
      show: ({ account_id }) => <Link href={accountPath(account_id, 'money')}>{account_id}</Link>,
    },
    {
      id: 'state',
      title: t.serviceState,
      phone: 'second',
      show: ({ status }) => (
        <Badge tone={status === 1 ? 'ok' : 'idle'}>{status === 1 ? t.available : t.unavailable}</Badge>
      ),
    },
    { id: 'created', title: t.createdAt, phone: 'hidden', show: ({ create_time }) => create_time },
  ];
}
