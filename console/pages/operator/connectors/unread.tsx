/** Deliveries of carriers that could not be read, as octets. */
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { MoreButton } from '../../../components/more-button.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { usePages } from '../../../queries.ts';
import { useText } from '../../../text/catalogue.ts';
import { connectorsText } from '../../../text/connectors.ts';

type Row = DataOf<'smsOperator.listUnread'>['list'][number];

const PAGE_SIZE = 20;

export function Unread() {
  const t = useText(connectorsText);
  const pages = usePages('smsOperator.listUnread', { page_size: PAGE_SIZE }, 'before');
  const columns = useColumns();
  return (
    <Card title={t.views.unread} note={t.unreadHelp} isFlush>
      <Loaded
        load={pages.load}
        isEmpty={(rows) => rows.length === 0}
        empty={<Empty icon="connectors" title={t.noUnread} />}
      >
        {(rows) => <Table label={t.views.unread} columns={columns} rows={rows} keyOf={({ unread_id }) => unread_id} />}
      </Loaded>
      {pages.hasMore && <MoreButton isBusy={pages.isBusy} onMore={pages.onMore} />}
    </Card>
  );
}

function useColumns(): readonly Column<Row>[] {
  const t = useText(connectorsText);
  return [
    {
      id: 'connector',
      title: t.connector,
      phone: 'first',
      show: ({ connector }) => <span className="mono">{connector || '—'}</span>,
    },
    { id: 'command', title: t.command, show: ({ command }) => <span className="mono">{command}</span> },
    { id: 'reason', title: t.reason, phone: 'hidden', show: ({ reason }) => reason },
    { id: 'octets', title: t.octets, show: ({ octets }) => <span className="mono wrap">{octets}</span> },
    { id: 'when', title: t.when, phone: 'second', show: ({ create_time }) => create_time },
  ];
}
