/** What was recorded: each recording plays here, is downloaded, or deleted. */
import { Suspense, useCallback, useState } from 'react';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Notice } from '../../components/notice.tsx';
import { Pager } from '../../components/pager.tsx';
import { Table } from '../../components/table.tsx';
import { lazily } from '../../lib/lazily.ts';
import { useRead } from '../../queries.ts';
import { recordingsPath, sameOrigin } from '../../routes/streams.ts';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { DeleteRecording } from './delete-recording.tsx';
import styles from './player.module.css';
import { type Recording, useRecordingColumns } from './recording-columns.tsx';
import { keptSince, RECORDING_DAYS } from './stream-times.ts';
import type { StreamsOf } from './viewers-card.tsx';

const HlsPlayer = lazily(async () => (await import('./hls-player.tsx')).HlsPlayer);

/** Addresses are signed for a limited time. */
const EVERY_MS = 60_000;
const PAGE_SIZE = 20;

interface RecordingsCardProps {
  readonly of: StreamsOf;
  /** Absent: the newest are shown, with a link to those of the domain. */
  readonly pager?: { readonly page: number; readonly pathOf: (page: number) => string };
}

export function RecordingsCard({ of, pager }: RecordingsCardProps) {
  const t = useText(liveHistoryText);
  const starttime = keptSince(RECORDING_DAYS, Date.now());
  const request = { ...of, starttime, page: pager?.page ?? 1, page_size: PAGE_SIZE };
  const load = useRead('live.listRecordings', request, { everyMs: EVERY_MS, keepsPrevious: true });
  const { play, stop, player } = usePlayer();
  const [deleting, setDeleting] = useState<Recording>();
  const columns = useRecordingColumns({ of, onPlay: play, onDelete: setDeleting });
  const total = load.kind === 'ready' ? load.data.total : 0;
  return (
    <Card
      title={t.recordings}
      isFlush
      actions={
        pager === undefined &&
        total > PAGE_SIZE && <LinkButton to={recordingsPath({ domain: of.domain })}>{t.ofDomainRecordings}</LinkButton>
      }
    >
      {player}
      <Loaded
        load={load}
        isEmpty={() => total === 0}
        empty={<p className="help pad">{of.stream_name === undefined ? t.noRecordings : t.noRecording}</p>}
      >
        {({ list }) => (
          <>
            <Table label={t.recordings} columns={columns} rows={list} keyOf={({ recording_id }) => recording_id} />
            {pager && <Pager {...pager} total={total} pageSize={PAGE_SIZE} />}
          </>
        )}
      </Loaded>
      {deleting && (
        <DeleteRecording
          domain={of.domain}
          recording={deleting}
          onDone={() => stop(deleting)}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </Card>
  );
}

/** One recording plays at a time, above the list. */
function usePlayer() {
  const t = useText(liveHistoryText);
  const [played, setPlayed] = useState<{ readonly id: string; readonly url: string }>();
  const [hasFailed, setFailed] = useState(false);
  const onFailure = useCallback(() => setFailed(true), []);
  const play = ({ recording_id: id, playlist_url }: Recording) => {
    setFailed(false);
    setPlayed({ id, url: sameOrigin(playlist_url) }); // it stays the same, whatever the list is signed with later
  };
  const stop = ({ recording_id }: Recording) => {
    if (played?.id !== recording_id) return;
    setPlayed(undefined);
    setFailed(false);
  };
  const player = hasFailed ? (
    <Notice tone="bad">{t.lost}</Notice>
  ) : (
    played && (
      <div className={`${styles['screen']} ${styles['beside']}`}>
        <Suspense>
          <HlsPlayer key={played.id} url={played.url} label={t.recording} onFailure={onFailure} />
        </Suspense>
      </div>
    )
  );
  return { play, stop, player };
}
