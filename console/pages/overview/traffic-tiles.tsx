/** Requests, hit ratio, traffic and errors as four figures, each with how much it differs from the time before. */
import { Tiles } from '../../components/tiles.tsx';
import { formatBytes, formatRatio, formatShort } from '../../lib/format.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { domainViewsText } from '../../text/domain-views.ts';
import { type Courses, changeOf, shareOf } from './courses.ts';

export function TrafficTiles({ courses }: { readonly courses: Courses }) {
  const t = useText(domainViewsText);
  const locale = usePreference('locale');
  const { requests, hits, bytes_out, status_5xx } = courses;
  const ratio = shareOf(hits.total, requests.total);
  const ratioBefore = shareOf(hits.before ?? 0, requests.before ?? 0);
  return (
    <Tiles
      tiles={[
        {
          title: t.requests,
          value: formatShort(requests.total, locale),
          note: <Change share={changeOf(requests.total, requests.before)} />,
          course: requests.values,
        },
        {
          title: t.hitRatio,
          value: ratio === undefined ? '—' : formatRatio(ratio, locale),
          note: ratio !== undefined && <Change share={changeOf(ratio, ratioBefore)} />,
        },
        {
          title: t.traffic,
          value: formatBytes(bytes_out.total, locale),
          note: <Change share={changeOf(bytes_out.total, bytes_out.before)} />,
          course: bytes_out.values,
        },
        {
          title: t.errors,
          value: formatShort(status_5xx.total, locale),
          note: <Change share={changeOf(status_5xx.total, status_5xx.before)} />,
          course: status_5xx.values,
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
