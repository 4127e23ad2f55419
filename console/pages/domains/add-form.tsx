/** The form of one domain, or of many with the same origin. */
import type { CallOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextArea, TextInput } from '../../components/input.tsx';
import type { Problem } from '../../components/load.ts';
import { Select } from '../../components/select.tsx';
import { Form } from '../../forms/form.tsx';
import type { FormState } from '../../forms/use-form.ts';
import { addDomainText } from '../../text/add-domain.ts';
import { useText } from '../../text/catalogue.ts';
import { MAX_NAMES, namesOf } from './domain-names.ts';
import { OriginTrial } from './origin-trial.tsx';
import { PresetField } from './preset-field.tsx';
import type { PresetName } from './presets.ts';
import { TypeCards } from './type-cards.tsx';

interface Values extends Readonly<Record<string, unknown>> {
  readonly domain: string;
  readonly cdn_type: '1' | '2' | '3' | '4' | '6';
  readonly data: string;
  readonly source_type: 'http' | 'https' | 'protocol_follow';
  readonly sourcehost: string;
}

export const NO_VALUES: Values = { domain: '', cdn_type: '1', data: '', source_type: 'http', sourcehost: '' };

interface AddFormProps {
  readonly form: FormState<Values>;
  readonly preset: PresetName | '';
  readonly onPreset: (preset: PresetName | '') => void;
  readonly isBusy: boolean;
  /** Why the one domain was not added. */
  readonly problem: Problem | undefined;
  readonly onSubmit: () => void;
}

export function AddForm({ form, preset, onPreset, isBusy, problem, onSubmit }: AddFormProps) {
  const t = useText(addDomainText);
  const names = namesOf(form.values.domain);
  return (
    <Card>
      <Form
        problem={problem}
        onSubmit={(event) => {
          event.preventDefault();
          if (form.check() && names.length <= MAX_NAMES && !isBusy) onSubmit();
        }}
        actions={
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t.submit(names.length)}
          </Button>
        }
      >
        <NameFields form={form} error={names.length > MAX_NAMES ? t.tooMany : form.errors.domain} />
        <OriginFields form={form} />
        <OriginTrial request={probeOf(form.values)} />
        <PresetField value={preset} onChange={onPreset} />
      </Form>
    </Card>
  );
}

interface FieldsProps {
  readonly form: FormState<Values>;
}

function NameFields({ form: { values, set, leave }, error }: FieldsProps & { readonly error: string | undefined }) {
  const t = useText(addDomainText);
  return (
    <>
      <Field label={t.names} help={t.namesHelp} error={error}>
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={2}
            value={values.domain}
            onChange={(event) => set({ domain: event.target.value })}
            onBlur={() => values.domain !== '' && leave('domain')}
          />
        )}
      </Field>
      <TypeCards value={values.cdn_type} onChange={(cdn_type) => set({ cdn_type })} />
    </>
  );
}

function OriginFields({ form: { values, set, errors, leave } }: FieldsProps) {
  const t = useText(addDomainText);
  const protocols = Object.entries(t.protocols).map(([value, label]) => ({ value, label }));
  return (
    <>
      <Field label={t.origins} help={t.originsHelp} error={errors.data}>
        {(ids) => (
          <TextArea
            ids={ids}
            isMono
            rows={2}
            value={values.data}
            onChange={(event) => set({ data: event.target.value })}
            onBlur={() => leave('data')}
          />
        )}
      </Field>
      <div className="columns">
        <Field label={t.protocol} help={t.protocolHelp}>
          {(ids) => (
            <Select
              ids={ids}
              choices={protocols}
              value={values.source_type}
              onChange={(source_type) => set({ source_type: source_type as Values['source_type'] })} // one of the choices
            />
          )}
        </Field>
        <Field label={t.host} help={t.hostHelp} error={errors.sourcehost}>
          {(ids) => (
            <TextInput
              ids={ids}
              isMono
              value={values.sourcehost}
              onChange={(event) => set({ sourcehost: event.target.value })}
            />
          )}
        </Field>
      </div>
    </>
  );
}

/** What tries the first origin as edges would ask it; `undefined` while there is none. */
function probeOf({ domain, data, source_type, sourcehost }: Values): CallOf<'origin.probe'> | undefined {
  const [origin] = data.split(/[\s,]+/).filter((one) => one !== '');
  const [name = ''] = namesOf(domain);
  if (origin === undefined) return undefined;
  return {
    origin,
    source_type,
    ...(sourcehost !== '' && { sourcehost }),
    ...(name !== '' && !name.startsWith('*') && { domain: name }),
  };
}
