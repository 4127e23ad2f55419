/** Requests, hit ratio, traffic and errors as four figures, perhaps compared with the time before. */
import type { DataOf } from '#contract/operations.ts';
import type { Load } from '../../components/load.ts';
import { Loaded } from '../../components/loaded.tsx';
import { Tiles } from '../../components/tiles.tsx';
import { formatBytes, formatRatio, formatShort } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { changeOf } from './time-range.ts';

type Traffic = DataOf<'stat.traffic'>;
type Requests = DataOf<'stat.requests'>;

interface TrafficTilesProps {
  readonly traffic: Load<Traffic>;
  readonly requests: Load<Requests>;
  /** Totals of the time before. */
  readonly before?: { readonly traffic: Traffic['total']; readonly requests: Requests['total'] } | undefined;
}

export function TrafficTiles({ traffic, requests, before }: TrafficTilesProps) {
  return (
    <Loaded load={traffic} lines={2}>
      {(bytes) => (
        <Loaded load={requests} lines={2}>
          {(counts) => <Figures {...{ bytes, counts, before }} />}
        </Loaded>
      )}
    </Loaded>
  );
}

interface FiguresProps extends Pick<TrafficTilesProps, 'before'> {
  readonly bytes: Traffic;
  readonly counts: Requests;
}

function Figures({ bytes, counts, before }: FiguresProps) {
  const t = useText(domainViewsText);
  const locale = usePreference('locale');
  const note = (now: number, then: number | undefined) =>
    then === undefined ? undefined : <Change share={changeOf(now, then)} />;
  const { requests, hit_ratio, status_5xx } = counts.total;
  return (
    <Tiles
      tiles={[
        {
          title: t.requests,
          value: formatShort(requests, locale),
          note: note(requests, before?.requests.requests),
          course: counts.list.map((point) => point.requests),
        },
        {
          title: t.hitRatio,
          value: requests === 0 ? '—' : formatRatio(hit_ratio, locale),
          note: note(hit_ratio, before?.requests.hit_ratio),
        },
        {
          title: t.traffic,
          value: formatBytes(bytes.total.bytes_out, locale),
          note: note(bytes.total.bytes_out, before?.traffic.bytes_out),
          course: bytes.list.map((point) => point.bytes_out),
        },
        {
          title: t.errors,
          value: formatShort(status_5xx, locale),
          note: note(status_5xx, before?.requests.status_5xx),
          course: counts.list.map((point) => point.status_5xx),
        },
      ]}
    />
  );
}

function Change({ share }: { readonly share: number | undefined }) {
  const locale = usePreference('locale');
  if (share === undefined) return null;
  const shown = new Intl.NumberFormat(locale, {
    style: 'percent',
    maximumFractionDigits: 0,
    signDisplay: 'exceptZero',
  });
  return shown.format(share);
}
