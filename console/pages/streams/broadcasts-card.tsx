/** The last broadcasts of one stream. */
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { formatNumber } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { broadcastsPath, type StreamPlace } from '../../routes/streams.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { BroadcastTable } from './broadcast-table.tsx';
import { BROADCAST_DAYS, keptSince } from './stream-times.ts';

const EVERY_MS = 60_000;
const SHOWN = 5;

export function BroadcastsCard({ place: { domain, app, stream } }: { readonly place: StreamPlace }) {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const starttime = keptSince(BROADCAST_DAYS, Date.now());
  const request = { domain, app_name: app, stream_name: stream, starttime, page_size: SHOWN };
  const load = useRead('live.history', request, { everyMs: EVERY_MS });
  const total = load.kind === 'ready' ? load.data.total : 0;
  return (
    <Card
      title={t.broadcasts}
      note={total > SHOWN && t.count(formatNumber(total, locale))}
      actions={total > SHOWN && <LinkButton to={broadcastsPath({ domain })}>{t.ofDomain}</LinkButton>}
      isFlush
    >
      <Loaded load={load} isEmpty={({ list }) => list.length === 0} empty={<p className="help pad">{t.noBroadcast}</p>}>
        {({ list }) => <BroadcastTable rows={list} />}
      </Loaded>
    </Card>
  );
}
