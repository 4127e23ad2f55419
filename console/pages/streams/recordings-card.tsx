/** What was recorded of a stream: each recording plays here, or is downloaded. */
import { Suspense, useCallback, useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { IconButton, lookOf } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Icon } from '../../components/icon.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatBytes, formatTime } from '../../lib/format.ts';
import { lazily } from '../../lib/lazily.ts';
import { useRead } from '../../queries.ts';
import { type StreamPlace, sameOrigin } from '../../routes.ts';
import { usePreference, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { streamsText } from '../../text/streams.ts';
import styles from './player.module.css';

const HlsPlayer = lazily(async () => (await import('./hls-player.tsx')).HlsPlayer);

type Recording = DataOf<'live.listRecordings'>['list'][number];

/** Addresses are signed for a limited time. */
const EVERY_MS = 60_000;
const SHOWN = 20;

export function RecordingsCard({ place: { domain, app, stream } }: { readonly place: StreamPlace }) {
  const t = useText(streamsText);
  const request = { domain, app_name: app, stream_name: stream, page_size: SHOWN };
  const load = useRead('live.listRecordings', request, { everyMs: EVERY_MS });
  const [played, setPlayed] = useState<{ readonly id: string; readonly url: string }>();
  const [hasFailed, setFailed] = useState(false);
  const onFailure = useCallback(() => setFailed(true), []);
  const play = ({ recording_id: id, playlist_url }: Recording) => {
    setFailed(false);
    setPlayed({ id, url: sameOrigin(playlist_url) }); // it stays the same, whatever the list is signed with later
  };
  const columns = useColumns(play);
  return (
    <Card title={t.recordings} isFlush>
      {played && !hasFailed && (
        <div className={`${styles['screen']} ${styles['beside']}`}>
          <Suspense>
            <HlsPlayer key={played.id} url={played.url} label={t.recording} onFailure={onFailure} />
          </Suspense>
        </div>
      )}
      {hasFailed && <Notice tone="bad">{t.recordingLost}</Notice>}
      <Loaded load={load} isEmpty={({ total }) => total === 0} empty={<p className="help pad">{t.noRecording}</p>}>
        {({ list, total }) => (
          <>
            <Table label={t.recordings} columns={columns} rows={list} keyOf={({ recording_id }) => recording_id} />
            {total > list.length && <p className="help pad">{t.more(total - list.length)}</p>}
          </>
        )}
      </Loaded>
    </Card>
  );
}

function useColumns(play: (recording: Recording) => void): readonly Column<Recording>[] {
  const t = useText(streamsText);
  const locale = usePreference('locale');
  const zone = useZone();
  const timeOf = ({ starttime }: Recording) => formatTime(starttime * 1000, { locale, zone });
  return [
    { id: 'begins', title: t.begins, phone: 'first', show: ({ starttime }) => <Time at={starttime * 1000} /> },
    { id: 'duration', title: t.duration, show: ({ duration_ms }) => formatDuration(duration_ms) },
    {
      id: 'size',
      title: t.size,
      isNumber: true,
      phone: 'hidden',
      show: ({ size }) => formatBytes(Number(size), locale),
    },
    { id: 'state', title: t.status, phone: 'hidden', show: ({ status }) => <RecordingState status={status} /> },
    {
      id: 'acts',
      title: t.recording,
      phone: 'second',
      show: (recording) => (
        <span className="row">
          <IconButton icon="play" label={t.playRecording(timeOf(recording))} onClick={() => play(recording)} />
          <a
            className={lookOf('plain', true)}
            href={recording.download_url}
            download
            aria-label={t.download(timeOf(recording))}
          >
            <Icon name="download" />
          </a>
        </span>
      ),
    },
  ];
}

function RecordingState({ status }: Pick<Recording, 'status'>) {
  const t = useText(streamsText);
  if (status === 'COMPLETE') return null;
  return <Badge tone={status === 'RECORDING' ? 'busy' : 'warn'}>{t.recordingStates[status]}</Badge>;
}

/** Hours, minutes and seconds, the same in both languages: `1:02:03`. */
function formatDuration(ms: number): string {
  const seconds = Math.round(ms / 1000);
  const two = (value: number) => String(value).padStart(2, '0');
  const rest = `${two(Math.floor(seconds / 60) % 60)}:${two(seconds % 60)}`;
  return seconds < 3600 ? rest : `${Math.floor(seconds / 3600)}:${rest}`;
}
