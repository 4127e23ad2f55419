/** What a list says of recordings, with the buttons of each. */
import type { DataOf } from '#contract/operations.ts';
import { Badge } from '../../components/badge.tsx';
import { IconButton, lookOf } from '../../components/button.tsx';
import { Icon } from '../../components/icon.tsx';
import type { Column } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { formatBytes, formatTime } from '../../lib/format.ts';
import { usePreference, useSession, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import { streamColumn } from './broadcast-table.tsx';
import { formatDuration } from './stream-times.ts';
import type { StreamsOf } from './viewers-card.tsx';

export type Recording = DataOf<'live.listRecordings'>['list'][number];

interface Acts {
  /** Whose recordings they are; those of a whole domain have a column for the stream. */
  readonly of: StreamsOf;
  readonly onPlay: (recording: Recording) => void;
  readonly onDelete: (recording: Recording) => void;
}

export function useRecordingColumns({ of, ...acts }: Acts): readonly Column<Recording>[] {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  return [
    { id: 'begins', title: t.begins, phone: 'first', show: ({ starttime }) => <Time at={starttime * 1000} /> },
    ...(of.stream_name === undefined ? [streamColumn(of.domain, t.stream)] : []),
    { id: 'duration', title: t.duration, show: ({ duration_ms }) => formatDuration(duration_ms) },
    {
      id: 'size',
      title: t.size,
      isNumber: true,
      phone: 'hidden',
      show: ({ size }) => formatBytes(Number(size), locale),
    },
    { id: 'state', title: t.status, phone: 'hidden', show: ({ status }) => <RecordingState status={status} /> },
    { id: 'acts', title: t.recording, phone: 'second', show: (recording) => <Buttons {...{ recording }} {...acts} /> },
  ];
}

function RecordingState({ status }: Pick<Recording, 'status'>) {
  const t = useText(liveHistoryText);
  if (status === 'COMPLETE') return null;
  return <Badge tone={status === 'RECORDING' ? 'busy' : 'warn'}>{t.states[status]}</Badge>;
}

function Buttons({ recording, onPlay, onDelete }: Omit<Acts, 'of'> & { readonly recording: Recording }) {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const zone = useZone();
  const mayWrite = useSession().access.includes('write');
  const time = formatTime(recording.starttime * 1000, { locale, zone });
  return (
    <span className="row">
      <IconButton icon="play" label={t.play(time)} onClick={() => onPlay(recording)} />
      <a className={lookOf('plain', true)} href={recording.download_url} download aria-label={t.download(time)}>
        <Icon name="download" />
      </a>
      {mayWrite && <IconButton icon="trash" label={t.remove(time)} onClick={() => onDelete(recording)} />}
    </span>
  );
}
