/** A new password of somebody whose address is known, so that password managers keep both. */
import { Field } from '../components/field.tsx';
import { TextInput } from '../components/input.tsx';
import type { FormState } from './use-form.ts';

interface NewPasswordFieldProps {
  readonly label: string;
  readonly help: string;
  readonly email: string;
  readonly form: Pick<FormState<{ readonly password: string }>, 'values' | 'set' | 'errors' | 'leave'>;
}

export function NewPasswordField({ label, help, email, form }: NewPasswordFieldProps) {
  const { values, set, errors, leave } = form;
  return (
    <>
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <Field label={label} help={help} error={errors.password}>
        {(ids) => (
          <TextInput
            ids={ids}
            type="password"
            name="password"
            autoComplete="new-password"
            value={values.password}
            onBlur={() => leave('password')}
            onChange={(event) => set({ password: event.target.value })}
          />
        )}
      </Field>
    </>
  );
}
