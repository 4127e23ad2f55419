/** Makes a new secret of a webhook after a question: the receiver has to know it at once. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Question } from '../../components/question.tsx';
import { problemOf, useChange } from '../../queries.ts';
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
      <Question
        title={t.rotateTitle}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        submit={t.rotateSubmit}
        onSubmit={submit}
        isBusy={rotate.isPending}
        problem={rotate.error ? problemOf(rotate.error) : undefined}
      >
        {t.rotateHelp}
      </Question>
    </>
  );
}
