/** What is done to the keys of one kind: a new one, the end of the secondary one, none at all. */
import { LIVE_OPERATOR_OPERATIONS } from '#contract/live/live-operator-operations.ts';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { FormDialog } from '../../forms/form-dialog.tsx';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { liveDomainText, NEW_KEY_WORDS } from '../../text/live-domain.ts';
import type { DomainPlace } from './live-domain.tsx';

export interface Asked {
  readonly kind: 'publish' | 'play';
  readonly action: 'rotate' | 'drop_secondary' | 'clear';
  /** Whether there is a key of the kind. */
  readonly hasKey: boolean;
}

interface KeyDialogProps {
  readonly asked: Asked;
  readonly place: DomainPlace;
  readonly onClose: () => void;
}

export function KeyDialog({ asked: { kind, action, hasKey }, place, onClose }: KeyDialogProps) {
  const t = useText(liveDomainText);
  const { toasts } = useServices();
  const onDone = () => toasts.show({ about: `domain ${place.domain_id}`, title: t.changed });
  const request = { ...place, kind, action };
  switch (action) {
    case 'rotate':
      return (
        <FormDialog
          title={t.rotateTitle[kind]}
          help={hasKey ? t.rotateHelp : t.rotateFirst[kind]}
          action={t.rotateAction}
          name="liveOperator.setKeys"
          contract={LIVE_OPERATOR_OPERATIONS['liveOperator.setKeys'].request}
          words={NEW_KEY_WORDS}
          initial={{ ...request, key: '' }}
          onDone={() => {
            onDone();
            onClose();
          }}
          onClose={onClose}
        />
      );
    case 'drop_secondary':
      return (
        <ConfirmChange
          title={t.dropTitle[kind]}
          action={t.drop}
          name="liveOperator.setKeys"
          {...{ request, onDone, onClose }}
        >
          {t.dropHelp}
        </ConfirmChange>
      );
    case 'clear':
      return (
        <ConfirmChange
          title={t.clearTitle[kind]}
          action={t.clear}
          name="liveOperator.setKeys"
          {...{ request, onDone, onClose }}
        >
          {t.clearHelp[kind]}
        </ConfirmChange>
      );
  }
}
