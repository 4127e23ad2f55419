/** Makes a new secret of a webhook after a question: the receiver has to know it at once. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { servicesText } from '../../text/services.ts';

interface RotateSecretProps {
  readonly appKey: string;
  readonly url: string;
}

export function RotateSecret({ appKey, url }: RotateSecretProps) {
  const t = useText(servicesText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  const rotate = useChange('sms.setWebhook');
  const submit = () =>
    rotate.mutate(
      { app_key: appKey, url, rotate: '1' },
      {
        onSuccess: () => {
          toasts.show({ about: `service ${appKey}`, title: t.rotated });
          setAsking(false);
        },
      },
    );
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t.rotate}</Button>
      <Dialog
        title={t.rotateTitle}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        footer={
          <>
            <Button onClick={() => setAsking(false)}>{common.cancel}</Button>
            <Button kind="danger" isBusy={rotate.isPending} onClick={submit}>
              {t.rotateSubmit}
            </Button>
          </>
        }
      >
        <p>{t.rotateHelp}</p>
        {rotate.error && <Notice tone="bad">{problemOf(rotate.error).text}</Notice>}
      </Dialog>
    </>
  );
}
