/** Enables a service, or disables it after a question. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { servicesText } from '../../text/services.ts';

interface StateButtonProps {
  readonly service: DataOf<'sms.getSettings'>;
}

export function StateButton({ service: { app_key, name, status } }: StateButtonProps) {
  const t = useText(servicesText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const change = useChange('sms.updateStatus');
  const isEnabled = status === 1;
  const show = (title: string) => toasts.show({ about: `service ${app_key}`, title });
  const submit = () =>
    change.mutate(
      { app_key, time: String(Date.now()), status: isEnabled ? '0' : '1' },
      {
        onSuccess: ({ status: now }) => {
          show(now === 1 ? t.changedState.enabled : t.changedState.disabled);
          setAsking(false);
        },
        onError: (error) => {
          if (!isEnabled) show(problemOf(error).text); // there is no dialog to say it in
        },
      },
    );
  if (!isEnabled) {
    return (
      <Button isBusy={change.isPending} onClick={submit}>
        {t.enable}
      </Button>
    );
  }
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t.disable}</Button>
      <Dialog
        title={t.disableTitle(name)}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{common.cancel}</Button>
            <Button kind="danger" isBusy={change.isPending} onClick={submit}>
              {t.disableSubmit}
            </Button>
          </>
        }
      >
        <p>{t.disableHelp}</p>
        {change.error && <Notice tone="bad">{problemOf(change.error).text}</Notice>}
      </Dialog>
    </>
  );
}
