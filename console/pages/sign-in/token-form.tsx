/** Signing in with an access token, which is exchanged for a session: the way of the first start. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { useText } from '../../text/catalogue.ts';
import { signInText } from '../../text/sign-in.ts';
import type { Begin } from './sign-in.tsx';

export function TokenForm({ help, onBegin }: { readonly help: string; readonly onBegin: Begin }) {
  const t = useText(signInText);
  const [token, setToken] = useState('');
  const { isBusy, problem, onSubmit } = useSending(() => onBegin({ access_token: token.trim() }));
  return (
    <Form
      onSubmit={onSubmit}
      problem={problem}
      actions={
        <Button type="submit" isBusy={isBusy}>
          {t.submitToken}
        </Button>
      }
    >
      <Field label={t.token} help={help}>
        {(ids) => (
          <TextInput
            ids={ids}
            isMono
            type="password"
            autoComplete="off"
            name="access_token"
            value={token}
            onChange={(event) => setToken(event.target.value)}
          />
        )}
      </Field>
    </Form>
  );
}
