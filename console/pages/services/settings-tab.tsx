/** The settings of a service, against the contract. */
import type { DataOf } from '#contract/operations.ts';
import { SMS_OPERATIONS } from '#contract/sms/sms-operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { type ControlIds, Field } from '../../components/field.tsx';
import { NumberInput, TextInput } from '../../components/input.tsx';
import { Switch } from '../../components/switch.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { useServices, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { servicesText } from '../../text/services.ts';

const { request } = SMS_OPERATIONS['sms.setSettings'];

const SWITCHES = ['bare_international', 'resend_uncertain'] as const;
const TEXTS = ['marketing_hours', 'time_zone', 'suffix'] as const;
type Name = (typeof SWITCHES)[number] | (typeof TEXTS)[number] | 'validity_hours';

type SettingsTabProps = { readonly settings: DataOf<'sms.getSettings'> };

export function SettingsTab({ settings: { name: _, status: __, validity_hours, ...settings } }: SettingsTabProps) {
  const t = useText(servicesText);
  const { toasts } = useServices();
  const mayWrite = useSession().access.includes('write');
  const save = useChange('sms.setSettings');
  const { values, set, errors, leave, check } = useForm(request, {
    ...settings,
    validity_hours: String(validity_hours),
  });
  const submit = () => {
    if (!check() || save.isPending) return;
    save.mutate(values, {
      onSuccess: () => toasts.show({ about: `service ${values.app_key}`, title: t.saved }),
    });
  };
  const field = (named: Name, show: (ids: ControlIds) => React.ReactNode) => (
    <Field key={named} isRow label={t.settings[named]} help={t.settingsHelp[named]} error={errors[named]}>
      {show}
    </Field>
  );
  return (
    <Card>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
        problem={save.error ? problemOf(save.error) : undefined}
        actions={
          mayWrite && (
            <Button kind="primary" type="submit" isBusy={save.isPending}>
              {t.save}
            </Button>
          )
        }
      >
        {TEXTS.map((named) =>
          field(named, (ids) => (
            <TextInput
              ids={ids}
              value={values[named]}
              onBlur={() => leave(named)}
              onChange={({ target: { value } }) => set({ [named]: value })}
            />
          )),
        )}
        {field('validity_hours', (ids) => (
          <NumberInput
            ids={ids}
            unit={t.hours}
            value={values.validity_hours}
            onBlur={() => leave('validity_hours')}
            onChange={({ target: { value } }) => set({ validity_hours: value })}
          />
        ))}
        {SWITCHES.map((named) =>
          field(named, (ids) => (
            <Switch ids={ids} isOn={values[named] === '1'} onChange={(isOn) => set({ [named]: isOn ? '1' : '0' })} />
          )),
        )}
      </Form>
    </Card>
  );
}
