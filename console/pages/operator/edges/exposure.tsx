/** The domains whose settings and secrets an edge has had: what to change after the machine was lost. */
import { useState } from 'react';
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../../components/button.tsx';
import { Card } from '../../../components/card.tsx';
import { Loaded } from '../../../components/loaded.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { useRead } from '../../../queries.ts';
import { accountPath } from '../../../routes/operators.ts';
import { useText } from '../../../text/catalogue.ts';
import { commonText } from '../../../text/common.ts';
import { edgesText } from '../../../text/edges.ts';

type Exposed = DataOf<'edgeOperator.exposure'>['list'][number];

const PAGE_SIZE = 20;

/** Read when somebody asks for it. */
export function Exposure({ edgeId }: { readonly edgeId: string }) {
  const t = useText(edgesText);
  const [page, setPage] = useState(0);
  return (
    <Card
      title={t.exposure}
      isFlush={page > 0}
      actions={page === 0 && <Button onClick={() => setPage(1)}>{t.show}</Button>}
    >
      {page === 0 ? <p className="help">{t.exposureHelp}</p> : <Shown {...{ edgeId, page, setPage }} />}
    </Card>
  );
}

interface ShownProps {
  readonly edgeId: string;
  readonly page: number;
  readonly setPage: (page: number) => void;
}

function Shown({ edgeId, page, setPage }: ShownProps) {
  const t = useText(edgesText);
  const common = useText(commonText);
  const request = { edge_id: edgeId, page, page_size: PAGE_SIZE };
  const load = useRead('edgeOperator.exposure', request, { keepsPrevious: true });
  const columns = useColumns();
  return (
    <Loaded load={load} isEmpty={({ total }) => total === 0} empty={<p className="help pad">{t.exposureNone}</p>}>
      {({ list, total, revoked_at }) => (
        <>
          {revoked_at > 0 && <p className="help pad">{t.exposureRevoked}</p>}
          <Table label={t.exposure} columns={columns} rows={list} keyOf={({ domain_id }) => domain_id} />
          <div className="row pad">
            {page > 1 && <Button onClick={() => setPage(page - 1)}>{common.previous}</Button>}
            {page * PAGE_SIZE < total && <Button onClick={() => setPage(page + 1)}>{common.next}</Button>}
          </div>
        </>
      )}
    </Loaded>
  );
}

function useColumns(): readonly Column<Exposed>[] {
  const t = useText(edgesText);
  return [
    {
      id: 'domain',
      title: t.domain,
      phone: 'first',
      show: ({ domain_name }) => <span className="mono wrap">{domain_name}</span>,
    },
    {
      id: 'account',
      title: t.account,
      show: ({ account_id }) => <Link href={accountPath(account_id)}>{account_id}</Link>,
    },
    {
      id: 'keys',
      title: t.keys,
      show: ({ ssl_keys }) => <span className="mono wrap">{ssl_keys.join(', ')}</span>,
    },
    { id: 'live', title: t.liveKeys, phone: 'second', show: ({ live_keys }) => live_keys === '1' && t.hadLiveKeys },
  ];
}
