/** Where events are posted to, and the secret that signs them, which is shown when it is asked for. docs/decisions/0713 */
import { useState } from 'react';
import { EVENT_OPERATIONS } from '#contract/operators/event-operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Facts } from '../../components/detail.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { FormDialog } from '../../forms/form-dialog.tsx';
import { useRead } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { eventsText } from '../../text/events.ts';
import { WEBHOOK_WORDS } from '../../text/webhook-fields.ts';

const NAMES = {
  event: { get: 'event.getWebhook', set: 'event.setWebhook' },
  eventOperator: { get: 'eventOperator.getWebhook', set: 'eventOperator.setWebhook' },
} as const;

interface WebhookCardProps {
  /** Whose events: the account's, or all. */
  readonly of: keyof typeof NAMES;
}

export function WebhookCard({ of }: WebhookCardProps) {
  const t = useText(eventsText);
  const { toasts } = useServices();
  const [isChanging, setChanging] = useState(false);
  const [shown, setShown] = useState('');
  const { get, set } = NAMES[of];
  const load = useRead(get, {});
  return (
    <Card title={t.webhook} actions={<Button onClick={() => setChanging(true)}>{t.setWebhook}</Button>}>
      <Loaded load={load} lines={2}>
        {({ url, secret }) => (
          <>
            <p className="help">{url === '' ? t.webhookNone : t.webhookHelp}</p>
            {url !== '' && (
              <Facts
                facts={[
                  { title: t.url, value: <span className="mono wrap">{url}</span> },
                  {
                    title: t.secret,
                    value: <Secret {...{ secret }} isShown={shown === secret} onShow={() => setShown(secret)} />,
                  },
                ]}
              />
            )}
            {isChanging && (
              <FormDialog
                title={t.setWebhook}
                action={t.saveWebhook}
                name={set}
                contract={EVENT_OPERATIONS[set].request}
                words={WEBHOOK_WORDS}
                initial={{ url, rotate: '0' }}
                choices={{ rotate: ['0', '1'] }}
                onDone={(made) => {
                  toasts.show({ about: 'events', title: made.url === '' ? t.webhookEnded : t.webhookSaved });
                  // A new one has to be told to the receiver at once.
                  if (made.secret !== secret) setShown(made.secret);
                  setChanging(false);
                }}
                onClose={() => setChanging(false)}
              />
            )}
          </>
        )}
      </Loaded>
    </Card>
  );
}

interface SecretProps {
  /** Empty: there is none, or it is locked. */
  readonly secret: string;
  readonly isShown: boolean;
  readonly onShow: () => void;
}

function Secret({ secret, isShown, onShow }: SecretProps) {
  const t = useText(eventsText);
  if (secret === '') return t.noSecret;
  return isShown ? <CopyBox text={secret} what={t.secret} /> : <Button onClick={onShow}>{t.showSecret}</Button>;
}
