/** The identity provider that the person may sign in by. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Notice } from '../../components/notice.tsx';
import { Time } from '../../components/time.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { problemOf, useRead } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import { useProvider } from '../sign-in/use-provider.ts';
import type { Person } from './password-card.tsx';

/** Absent where the service has no provider. */
export function ProviderCard({ person: { provider_at } }: { readonly person: Person }) {
  const t = useText(securityText);
  const load = useRead('session.methods', {});
  const { isBusy, error, go } = useProvider('link');
  const [isAsked, setAsked] = useState(false);
  if (load.kind !== 'ready' || load.data.provider === '') return null;
  const isLinked = provider_at > 0;
  return (
    <Card
      title={t.provider}
      note={load.data.provider}
      actions={
        isLinked ? (
          <Button onClick={() => setAsked(true)}>{t.unlink}</Button>
        ) : (
          <Button isBusy={isBusy} onClick={go}>
            {t.link}
          </Button>
        )
      }
    >
      <p>
        {isLinked ? t.linked : t.notLinked} {isLinked && <Time at={provider_at} />}
      </p>
      {error && <Notice tone="bad">{problemOf(error).text}</Notice>}
      {isAsked && (
        <ConfirmChange
          name="person.unlinkProvider"
          request={{}}
          title={t.unlinkTitle}
          action={t.unlink}
          onClose={() => setAsked(false)}
        >
          {t.unlinkHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}
