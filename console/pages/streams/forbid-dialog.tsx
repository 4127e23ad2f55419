/** A stream is forbidden before it was ever on air: by its names. */
import { LIVE_OPERATOR_OPERATIONS } from '#contract/live/live-operator-operations.ts';
import { FormDialog } from '../../forms/form-dialog.tsx';
import { unixAfter } from '../../lib/unix-after.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { FORBID_WORDS, liveDomainText } from '../../text/live-domain.ts';
import { streamsText } from '../../text/streams.ts';
import type { DomainPlace } from './live-domain.tsx';

/** Seconds from now on; empty: until it is resumed. */
const TIMES = ['', '3600', '86400'];

interface ForbidDialogProps {
  readonly place: DomainPlace;
  readonly onClose: () => void;
}

export function ForbidDialog({ place, onClose }: ForbidDialogProps) {
  const t = useText(liveDomainText);
  const streams = useText(streamsText);
  const { toasts } = useServices();
  return (
    <FormDialog
      title={t.forbidTitle}
      help={streams.forbidHelp}
      action={streams.forbid}
      name="liveOperator.forbid"
      contract={LIVE_OPERATOR_OPERATIONS['liveOperator.forbid'].request}
      words={FORBID_WORDS}
      initial={{ ...place, app_name: 'live', stream_name: '', resume_at: '' }}
      choices={{ resume_at: TIMES }}
      requestOf={({ resume_at: seconds = '', ...stream }) => ({
        ...stream,
        ...(seconds !== '' && { resume_at: unixAfter(Number(seconds), Date.now()) }),
      })}
      onDone={() => {
        toasts.show({ about: `domain ${place.domain_id}`, title: t.forbidden });
        onClose();
      }}
      onClose={onClose}
    />
  );
}
