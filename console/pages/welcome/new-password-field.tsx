/** A new password of somebody whose address is known, so that password managers keep both. */
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import type { FormState } from '../../forms/use-form.ts';
import { useText } from '../../text/catalogue.ts';
import { welcomeText } from '../../text/welcome.ts';

interface NewPasswordFieldProps {
  readonly email: string;
  readonly form: Pick<FormState<{ readonly password: string }>, 'values' | 'set' | 'errors' | 'leave'>;
}

export function NewPasswordField({ email, form: { values, set, errors, leave } }: NewPasswordFieldProps) {
  const t = useText(welcomeText);
  return (
    <>
      <input type="email" name="email" autoComplete="username" value={email} readOnly hidden />
      <Field label={t.password} help={t.passwordHelp} error={errors.password}>
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
