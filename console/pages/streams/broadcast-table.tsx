/** Broadcasts: when each was on air, why it ended, and how many watched at most. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatNumber } from '../../lib/format.ts';
import { streamPath } from '../../routes/streams.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { nameOf } from './stream-columns.tsx';
import { formatDuration } from './stream-times.ts';

type Broadcast = DataOf<'live.history'>['list'][number];

interface BroadcastTableProps {
  readonly rows: readonly Broadcast[];
  /** The domain whose streams are named; absent: all are of one stream. */
  readonly domain?: string;
}

export function BroadcastTable({ rows, domain }: BroadcastTableProps) {
  const t = useText(liveHistoryText);
  return (
    <Table
      label={t.broadcasts}
      columns={useBroadcastColumns<Broadcast>(domain === undefined ? [] : [streamColumn(domain, t.stream)])}
      rows={rows}
      keyOf={(row) => `${nameOf(row)} ${row.timestamp}`}
    />
  );
}

/** `more`: columns behind the first. */
export function useBroadcastColumns<R extends Broadcast>(more: readonly Column<R>[]): readonly Column<R>[] {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const reasons: Readonly<Record<string, string>> = t.reasons;
  return [
    { id: 'began', title: t.began, phone: 'first', show: ({ timestamp }) => <Time at={timestamp * 1000} /> },
    ...more,
    { id: 'lasted', title: t.lasted, phone: 'second', show: (row) => <Lasted row={row} /> },
    { id: 'why', title: t.why, show: ({ end_reason }) => reasons[end_reason] ?? end_reason },
    { id: 'source', title: t.source, phone: 'hidden', show: ({ source }) => t.sources[source] },
    {
      id: 'peak',
      title: t.peak,
      isNumber: true,
      phone: 'hidden',
      show: ({ peak_viewers }) => formatNumber(peak_viewers, locale),
    },
  ];
}

type Named = Pick<Broadcast, 'app_name' | 'stream_name'>;

/** The stream of a domain that something belongs to. */
export function streamColumn(domain: string, title: string): Column<Named> {
  return {
    id: 'stream',
    title,
    show: (row) => (
      <Link href={streamPath({ domain, app: row.app_name, stream: row.stream_name })} className="mono wrap">
        {nameOf(row)}
      </Link>
    ),
  };
}

function Lasted({ row: { timestamp, endtime } }: { readonly row: Broadcast }) {
  const t = useText(liveHistoryText);
  return endtime === 0 ? <Badge tone="ok">{t.onAir}</Badge> : formatDuration((endtime - timestamp) * 1000);
}
