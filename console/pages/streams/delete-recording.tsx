/** Asks once more before a recording is deleted. */
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { formatTime } from '../../lib/format.ts';
import { usePreference, useServices, useZone } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveHistoryText } from '../../text/live-history.ts';
import type { Recording } from './recording-columns.tsx';

interface DeleteRecordingProps {
  readonly domain: string;
  readonly recording: Recording;
  readonly onDone: () => void;
  readonly onClose: () => void;
}

export function DeleteRecording({ domain, recording, onDone, onClose }: DeleteRecordingProps) {
  const t = useText(liveHistoryText);
  const locale = usePreference('locale');
  const zone = useZone();
  const { toasts } = useServices();
  const { recording_id, starttime, status } = recording;
  return (
    <ConfirmChange
      name="live.deleteRecording"
      request={{ domain, recording_id }}
      title={t.removeTitle(formatTime(starttime * 1000, { locale, zone }))}
      action={t.removeAction}
      onDone={() => {
        toasts.show({ about: `recording ${recording_id}`, title: t.removed });
        onDone();
      }}
      onClose={onClose}
    >
      {status === 'RECORDING' ? t.removeRunning : t.removeHelp}
    </ConfirmChange>
  );
}
