/** A field of a form: its control follows from the contract, its words from a text. */
import type { SettingWords } from '#contract/changes/setting-words.ts';
import type { Fields } from '#contract/schema/fields.ts';
import { Choices } from '../components/choices.tsx';
import { Field } from '../components/field.tsx';
import { TextInput } from '../components/input.tsx';
import { usePreference } from '../services.tsx';
import { SettingControl } from './setting-control.tsx';
import type { FormState } from './use-form.ts';

type Values = Readonly<Record<string, unknown>>;

interface ContractFieldProps<V extends Values> {
  readonly form: FormState<V>;
  readonly fields: Fields;
  readonly name: keyof V & string;
  readonly words: SettingWords;
  /** The control stands beside its words. */
  readonly isRow?: boolean;
}

export function ContractField<V extends Values>({ form, fields, name, words, isRow = false }: ContractFieldProps<V>) {
  const locale = usePreference('locale');
  const field = fields[name];
  if (field === undefined) throw new Error(`the contract has no field ${name}`);
  const value = form.values[name];
  // `as`: one of its own members.
  const onChange = (next: unknown) => form.set({ [name]: next } as Partial<V>);
  const error = form.errors[name];
  if (field.kind === 'choices') {
    const choices = (field.values ?? []).map((one) => ({ value: one, label: words.values?.[one]?.[locale] ?? one }));
    const chosen = Array.isArray(value) ? value : [];
    return <Choices label={words.title[locale]} {...{ choices, chosen, error, onChange }} />;
  }
  return (
    <Field
      label={words.title[locale]}
      help={words.effect[locale]}
      error={error}
      isRow={isRow}
      isWide={isRow && (field.kind === 'pem' || field.kind === 'list')}
    >
      {(ids) =>
        field.isSecret ? (
          <TextInput
            ids={ids}
            isMono
            type="password"
            autoComplete="new-password"
            value={String(value ?? '')}
            onChange={(event) => onChange(event.target.value)}
          />
        ) : (
          <SettingControl {...{ ids, field, value, onChange }} text={words} />
        )
      }
    </Field>
  );
}
