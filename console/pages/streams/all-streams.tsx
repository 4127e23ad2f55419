/** The live streams of all accounts, for operators, who can cut and forbid them. */
import { Link, useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Pager } from '../../components/pager.tsx';
import { Select } from '../../components/select.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { accountPath } from '../../routes/operators.ts';
import { allStreamsPath, readAllStreamsQuery, STREAM_STATES } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import { EVERY_MS, nameOf, useStreamColumns } from './stream-columns.tsx';
import { StreamDialog } from './stream-dialog.tsx';

export type OperatorRow = DataOf<'liveOperator.list'>['list'][number];

const PAGE_SIZE = 50;

export function AllStreams() {
  const t = useText(streamsText);
  const [, navigate] = useLocation();
  const query = readAllStreamsQuery(useSearch());
  const { status, page, open } = query;
  const request = { page, page_size: PAGE_SIZE, ...(status !== '' && { status }) };
  const load = useRead('liveOperator.list', request, { everyMs: EVERY_MS, keepsPrevious: true });
  const pathOf = (row: OperatorRow) => allStreamsPath({ ...query, open: keyOf(row) });
  const account: Column<OperatorRow> = {
    id: 'account',
    title: t.account,
    phone: 'hidden',
    show: ({ account_id }) => <Link href={accountPath(account_id)}>{account_id}</Link>,
  };
  const columns = [...useStreamColumns(pathOf), account];
  return (
    <Page
      title={t.allTitle}
      actions={
        <Select
          label={t.status}
          choices={STREAM_STATES.map((value) => ({ value, label: t.statuses[value] }))}
          value={status}
          onChange={(value) => navigate(allStreamsPath({ status: value }), { replace: true })}
        />
      }
    >
      <Card isFlush>
        <Loaded
          load={load}
          lines={5}
          isEmpty={({ total }) => total === 0}
          empty={<Empty icon="streams" title={t.emptyAll} />}
        >
          {({ list, total }) => (
            <>
              <Table
                label={t.allTitle}
                columns={columns}
                rows={list}
                keyOf={keyOf}
                onOpen={(row) => navigate(pathOf(row))}
              />
              <Pager
                {...{ page, total }}
                pageSize={PAGE_SIZE}
                pathOf={(to) => allStreamsPath({ ...query, page: to })}
              />
              <StreamDialog
                row={list.find((row) => keyOf(row) === open)}
                onClose={() => navigate(allStreamsPath({ ...query, open: '' }))}
              />
            </>
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function keyOf(row: OperatorRow): string {
  return `${row.domain_id}/${nameOf(row)}`;
}
