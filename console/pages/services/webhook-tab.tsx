/** Where a service's receipts and replies are posted, a test of it, and the last posts with their answers. */
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATIONS } from '#contract/sms/sms-operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { problemOf, useChange, useRead } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';
import { Deliveries } from './deliveries.tsx';
import { RotateSecret } from './rotate-secret.tsx';

const { request } = SMS_OPERATIONS['sms.setWebhook'];

export function WebhookTab({ appKey }: { readonly appKey: string }) {
  const t = useText(servicesText);
  const load = useRead('sms.getWebhook', { app_key: appKey });
  return (
    <>
      <Card title={t.webhookTitle}>
        <Loaded load={load}>
          {(webhook) => (
            <div className="stack">
              <AddressForm key={webhook.url} {...{ appKey, webhook }} />
              {webhook.secret !== '' && (
                <section className="stack" aria-label={t.secret}>
                  <h3>{t.secret}</h3>
                  <p className="help">{t.secretHelp}</p>
                  <CopyBox text={webhook.secret} what={t.secret} />
                  <div className="row">
                    <RotateSecret {...{ appKey }} url={webhook.url} />
                  </div>
                </section>
              )}
            </div>
          )}
        </Loaded>
      </Card>
      <Deliveries appKey={appKey} canTest={load.kind === 'ready' && load.data.url !== ''} />
    </>
  );
}

interface AddressFormProps {
  readonly appKey: string;
  readonly webhook: DataOf<'sms.getWebhook'>;
}

function AddressForm({ appKey, webhook }: AddressFormProps) {
  const t = useText(servicesText);
  const { toasts } = useServices();
  const save = useChange('sms.setWebhook');
  const { values, set, errors, leave, check } = useForm(request, { app_key: appKey, url: webhook.url });
  const send = (url: string) =>
    save.mutate(
      { app_key: appKey, url },
      { onSuccess: () => toasts.show({ about: `service ${appKey}`, title: t.savedWebhook }) },
    );
  const refused = save.error ? problemOf(save.error).text : undefined;
  return (
    <Form
      onSubmit={(event) => {
        event.preventDefault();
        if (check() && !save.isPending) send(values.url);
      }}
      actions={
        <>
          <Button kind="primary" type="submit" isBusy={save.isPending} disabled={values.url === webhook.url}>
            {t.saveWebhook}
          </Button>
          {webhook.url !== '' && (
            <Button isBusy={save.isPending} onClick={() => send('')}>
              {t.removeWebhook}
            </Button>
          )}
        </>
      }
    >
      <Field label={t.url} help={t.urlHelp} error={errors.url ?? refused}>
        {(ids) => (
          <TextInput
            ids={ids}
            isMono
            inputMode="url"
            value={values.url}
            onBlur={() => leave('url')}
            onChange={({ target: { value } }) => set({ url: value.trim() })}
          />
        )}
      </Field>
    </Form>
  );
}
