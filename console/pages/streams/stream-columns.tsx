/** What a list says of a stream. */
import { Link } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatBitRate, formatNumber } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';

/** Live processes report every 5 s. */
export const EVERY_MS = 5_000;

export type StreamRow = DataOf<'live.list'>['list'][number];

/** `pathOf`: where a row leads. */
export function useStreamColumns<R extends StreamRow>(pathOf: (row: R) => string): readonly Column<R>[] {
  const t = useText(streamsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'stream',
      title: t.stream,
      phone: 'first',
      show: (row) => (
        <Link href={pathOf(row)} className="mono wrap">
          {nameOf(row)}
        </Link>
      ),
    },
    { id: 'domain', title: t.domain, show: ({ domain }) => <span className="mono wrap">{domain}</span> },
    { id: 'status', title: t.status, phone: 'second', show: (row) => <StreamState row={row} /> },
    { id: 'since', title: t.since, phone: 'hidden', show: (row) => <Since row={row} /> },
    {
      id: 'rate',
      title: t.bitRate,
      isNumber: true,
      phone: 'hidden',
      show: ({ details }) => details && formatBitRate(details.bit_rate, locale),
    },
    { id: 'codecs', title: t.codecs, phone: 'hidden', show: ({ details }) => details && codecsOf(details) },
    {
      id: 'viewers',
      title: t.viewers,
      isNumber: true,
      phone: 'hidden',
      show: ({ details }) => details && formatNumber(viewersOf(details), locale),
    },
    {
      id: 'address',
      title: t.address,
      phone: 'hidden',
      show: ({ details }) => details && <span className="mono">{details.address}</span>,
    },
  ];
}

export function nameOf({ app_name, stream_name }: Pick<StreamRow, 'app_name' | 'stream_name'>): string {
  return `${app_name}/${stream_name}`;
}

export type StreamDetails = NonNullable<StreamRow['details']>;

export function codecsOf({ video_codec, audio_codec }: StreamDetails): string {
  return [video_codec, audio_codec].filter((codec) => codec !== '').join(', ');
}

function viewersOf({ viewers: { flv, websocket, rtmp, hls } }: StreamDetails): number {
  return flv + websocket + rtmp + hls;
}

export function StreamState({ row: { status, details } }: { readonly row: StreamRow }) {
  const t = useText(streamsText);
  if (details?.in_grace === '1') return <Badge tone="warn">{t.lost}</Badge>;
  if (status === 'PAUSED') return <Badge tone="bad">{t.statuses.PAUSED}</Badge>;
  return <Badge tone={status === 'ONGOING' ? 'ok' : 'idle'}>{t.statuses[status]}</Badge>;
}

/** When it began, if it is on air, or else when it ended. */
function Since({ row: { timestamp, endtime } }: { readonly row: StreamRow }) {
  const t = useText(streamsText);
  const at = endtime > 0 ? endtime : timestamp;
  return at === 0 ? <span className="dim">{t.never}</span> : <Time at={at * 1000} isRelative />;
}
