/** Makes a new secret of a webhook after a question: the receiver has to know it at once. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';

interface RotateSecretProps {
  readonly appKey: string;
  readonly url: string;
}

export function RotateSecret({ appKey, url }: RotateSecretProps) {
  const t = useText(servicesText);
  const { toasts } = useServices();
  const [isAsking, setAsking] = useState(false);
  return (
    <>
      <Button onClick={() => setAsking(true)}>{t.rotate}</Button>
      {isAsking && (
        <ConfirmChange
          title={t.rotateTitle}
          action={t.rotateSubmit}
          name="sms.setWebhook"
          request={{ app_key: appKey, url, rotate: '1' }}
          onDone={() => toasts.show({ about: `service ${appKey}`, title: t.rotated })}
          onClose={() => setAsking(false)}
        >
          {t.rotateHelp}
        </ConfirmChange>
      )}
    </>
  );
}
