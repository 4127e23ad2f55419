/** One live stream: playing, its figures, its addresses, and what was recorded of it. */
import { useParams, useSearch } from 'wouter';
import { Card } from '../../components/card.tsx';
import { Facts } from '../../components/detail.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { Time } from '../../components/time.tsx';
import { formatBitRate, formatNumber } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { readViewersQuery, type StreamPlace, streamViewersPath } from '../../routes/streams.ts';
import { PATHS } from '../../routes.ts';
import { usePreference } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import { BroadcastsCard } from './broadcasts-card.tsx';
import { PreviewCard } from './preview-card.tsx';
import { PublishCard } from './publish-card.tsx';
import { RecordingsCard } from './recordings-card.tsx';
import { codecsOf, EVERY_MS, type StreamDetails, type StreamRow, StreamState } from './stream-columns.tsx';
import { ViewersCard } from './viewers-card.tsx';

export function Stream() {
  const { domain = '', app = '', stream = '' } = useParams();
  // What was read of one stream is never shown for another.
  return <StreamPage key={`${domain}/${app}/${stream}`} place={{ domain, app, stream }} />;
}

function StreamPage({ place }: { readonly place: StreamPlace }) {
  const t = useText(streamsText);
  const { domain, app, stream } = place;
  const { range } = readViewersQuery(useSearch());
  const request = { domain, app_name: app, stream_name: stream };
  const load = useRead('live.list', request, { everyMs: EVERY_MS });
  const row = load.kind === 'ready' ? load.data.list[0] : undefined;
  return (
    <Page
      title={`${app}/${stream}`}
      isName
      back={{ to: PATHS.streams, title: t.title }}
      note={row && <StreamState row={row} />}
      actions={<span className="mono dim wrap">{domain}</span>}
    >
      <Loaded
        load={load}
        lines={6}
        isEmpty={({ list }) => list.length === 0}
        empty={
          <Card>
            <Empty icon="streams" title={t.missing} text={t.missingText} />
          </Card>
        }
      >
        {({ list }) => list.map((found) => <Found key={found.domain_id} row={found} place={place} />)}
      </Loaded>
      {load.kind === 'ready' && (
        <>
          <PublishCard title={t.publish} domains={[domain]} place={place} />
          <ViewersCard of={request} range={range} pathOf={(next) => streamViewersPath(place, next)} />
          <BroadcastsCard place={place} />
          <RecordingsCard of={request} />
        </>
      )}
    </Page>
  );
}

function Found({ row, place }: { readonly row: StreamRow; readonly place: StreamPlace }) {
  const t = useText(streamsText);
  const { status, timestamp, endtime, resume_at, details } = row;
  const at = (seconds: number) => (seconds === 0 ? undefined : <Time at={seconds * 1000} />);
  const detailFacts = useDetailFacts(details ?? undefined);
  return (
    <>
      <PreviewCard place={place} isOnAir={status === 'ONGOING'} />
      <Card title={t.facts}>
        <Facts
          facts={[
            { title: t.began, value: at(timestamp) ?? t.never },
            { title: t.ended, value: at(endtime) },
            { title: t.resumes, value: status === 'PAUSED' ? (at(resume_at) ?? t.forGood) : undefined },
            ...detailFacts,
          ]}
        />
      </Card>
    </>
  );
}

function useDetailFacts(details: StreamDetails | undefined) {
  const t = useText(streamsText);
  const locale = usePreference('locale');
  if (details === undefined) return [];
  const number = (value: number, digits = 0) => formatNumber(value, locale, digits);
  const { source, address, encoder, width, height, frame_rate, key_frame_ms, bit_rate, viewers } = details;
  return [
    { title: source === 'publish' ? t.address : t.origin, value: <span className="mono">{address}</span> },
    { title: t.encoder, value: encoder === '' ? undefined : encoder },
    { title: t.codecs, value: codecsOf(details) || undefined },
    { title: t.picture, value: width === 0 ? undefined : t.pictureOf(width, height, number(frame_rate, 1)) },
    {
      title: t.keyFrames,
      value: key_frame_ms === 0 ? undefined : t.keyFramesOf(number(key_frame_ms / 1000, 1)),
    },
    { title: t.bitRate, value: formatBitRate(bit_rate, locale) },
    {
      title: t.viewers,
      value: t.viewersOf(number(viewers.flv), number(viewers.websocket), number(viewers.rtmp), number(viewers.hls)),
    },
  ];
}
