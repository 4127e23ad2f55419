/** What was on air under a domain of any account, with the publisher and the edge, which operators see. */
import type { DataOf } from '#contract/operations.ts';
import { Card } from '../../components/card.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Pager } from '../../components/pager.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { useRead } from '../../queries.ts';
import { liveDomainPath } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { liveDomainText } from '../../text/live-domain.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { useBroadcastColumns } from './broadcast-table.tsx';
import type { DomainPlace } from './live-domain.tsx';
import { nameOf } from './stream-columns.tsx';
import { BROADCAST_DAYS, keptSince } from './stream-times.ts';

type Broadcast = DataOf<'liveOperator.history'>['list'][number];

const PAGE_SIZE = 20;
const EVERY_MS = 30_000;

interface DomainBroadcastsProps {
  readonly place: DomainPlace;
  readonly domain: string;
  readonly page: number;
}

export function DomainBroadcasts({ place, domain, page }: DomainBroadcastsProps) {
  const t = useText(liveHistoryText);
  const request = { ...place, starttime: keptSince(BROADCAST_DAYS, Date.now()), page, page_size: PAGE_SIZE };
  const load = useRead('liveOperator.history', request, { everyMs: EVERY_MS, keepsPrevious: true });
  const columns = useBroadcastColumns(useMore());
  return (
    <Card title={t.broadcasts} isFlush>
      <p className="help pad">{t.broadcastsHelp}</p>
      <Loaded
        load={load}
        isEmpty={({ list }) => list.length === 0}
        empty={<Empty icon="streams" title={t.noBroadcast} />}
      >
        {({ list, total }) => (
          <>
            <Table label={t.broadcasts} columns={columns} rows={list} keyOf={({ broadcast }) => broadcast} />
            <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(other) => liveDomainPath(domain, other)} />
          </>
        )}
      </Loaded>
    </Card>
  );
}

function useMore(): readonly Column<Broadcast>[] {
  const history = useText(liveHistoryText);
  const t = useText(liveDomainText);
  return [
    { id: 'stream', title: history.stream, show: (row) => <span className="mono wrap">{nameOf(row)}</span> },
    {
      id: 'publisher',
      title: t.publisher,
      phone: 'hidden',
      show: ({ address }) => <span className="mono wrap">{address}</span>,
    },
    { id: 'edge', title: t.edge, phone: 'hidden', show: ({ edge }) => <span className="mono">{edge}</span> },
  ];
}
