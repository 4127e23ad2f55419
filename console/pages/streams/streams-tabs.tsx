/** Streams as they are, and what they have left. */
import { Tabs } from '../../components/tabs.tsx';
import { broadcastsPath, recordingsPath, streamsPath } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';

export type StreamsView = 'streams' | 'broadcasts' | 'recordings';

interface StreamsTabsProps {
  readonly open: StreamsView;
  /** Name of the domain, which the other tabs keep; empty: none. */
  readonly domain: string;
}

export function StreamsTabs({ open, domain }: StreamsTabsProps) {
  const t = useText(liveHistoryText);
  return (
    <Tabs
      label={t.views}
      tabs={[
        { to: streamsPath({ domain }), title: t.streams, isOpen: open === 'streams' },
        { to: broadcastsPath({ domain }), title: t.broadcasts, isOpen: open === 'broadcasts' },
        { to: recordingsPath({ domain }), title: t.recordings, isOpen: open === 'recordings' },
      ]}
    />
  );
}
