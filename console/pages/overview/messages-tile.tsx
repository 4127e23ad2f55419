/** Messages of today by what became of them, for accounts that have sent any of late. */
import { Tiles } from '../../components/tiles.tsx';
import { formatDay, formatShort } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { usePreference, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { overviewText } from '../../text/overview.ts';
import { messageCounts } from './message-counts.ts';

const EVERY_MS = 60_000;

export function MessagesTile() {
  const t = useText(overviewText);
  const locale = usePreference('locale');
  const zone = useSession().time_zone;
  const load = useRead('sms.statistics', { by: ['day', 'status'] }, { everyMs: EVERY_MS });
  if (load.kind !== 'ready' || load.data.list.length === 0) return null;
  const counts = messageCounts(load.data.list, formatDay(Date.now(), { locale, zone }));
  return (
    <Tiles
      tiles={(['sent', 'delivered', 'failed', 'open'] as const).map((name) => ({
        title: t.messages[name],
        value: formatShort(counts[name], locale),
      }))}
    />
  );
}
