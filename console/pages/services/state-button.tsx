/** Enables a service, or disables it after a question. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Question } from '../../components/question.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';

interface StateButtonProps {
  readonly service: DataOf<'sms.getSettings'>;
}

export function StateButton({ service: { app_key, name, status } }: StateButtonProps) {
  const t = useText(servicesText);
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
      <Question
        title={t.disableTitle(name)}
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        submit={t.disableSubmit}
        onSubmit={submit}
        isBusy={change.isPending}
        problem={change.error ? problemOf(change.error) : undefined}
      >
        {t.disableHelp}
      </Question>
    </>
  );
}
