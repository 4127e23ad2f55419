/** Signing in with an e-mail address and a password. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';
import type { Begin } from './sign-in.tsx';

export function PasswordForm({ onBegin }: { readonly onBegin: Begin }) {
  const t = useText(signInText);
  const [email, setEmail] = useState('');
  const [password, setPassword] = useState('');
  const { isBusy, problem, onSubmit } = useSending(() => onBegin({ email: email.trim(), password }));
  return (
    <Form
      onSubmit={onSubmit}
      problem={problem}
      actions={
        <Button type="submit" isBusy={isBusy}>
          {t.submit}
        </Button>
      }
    >
      <Field label={t.email}>
        {(ids) => (
          <TextInput
            ids={ids}
            type="email"
            name="email"
            autoComplete="username"
            value={email}
            onChange={(event) => setEmail(event.target.value)}
          />
        )}
      </Field>
      <Field label={t.password}>
        {(ids) => (
          <TextInput
            ids={ids}
            type="password"
            name="password"
            autoComplete="current-password"
            value={password}
            onChange={(event) => setPassword(event.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
