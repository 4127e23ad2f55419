/** Somebody who has no account yet: a name, and a passkey or a password. */
import type { CallOf } from '#contract/operations.ts';
import { MEMBER_OPERATIONS } from '#contract/people/member-operations.ts';
import { Button } from '../../components/button.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { NewPasswordField } from '../../forms/new-password-field.tsx';
import { useForm } from '../../forms/use-form.ts';
import { useSending } from '../../forms/use-sending.ts';
import { makePasskey } from '../../lib/passkey.ts';
import { useAsk } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { welcomeText } from '../../text/welcome.ts';
import { Or } from '../sign-in/entry-page.tsx';
import { PasskeyNotice, WherePasskeysWork } from '../sign-in/passkey-button.tsx';
import { useAccept } from './use-accept.ts';
import type { LinkProps } from './welcome.tsx';

const { request } = MEMBER_OPERATIONS['invitation.accept'];

export function JoinAsNew({ secret, link: { email } }: LinkProps) {
  const t = useText(welcomeText);
  const accept = useAccept();
  const form = useForm(request, { secret, name: '', password: '' });
  const { values, set, errors, check } = form;
  const { isBusy, problem, onSubmit } = useSending(async () => check() && (await accept(values)));
  return (
    <>
      <Field label={t.name} help={t.nameHelp} error={errors.name}>
        {(ids) => (
          <TextInput
            ids={ids}
            autoComplete="name"
            value={values.name}
            onChange={(event) => set({ name: event.target.value })}
          />
        )}
      </Field>
      <WherePasskeysWork>
        <JoinWithPasskey secret={secret} name={values.name} />
      </WherePasskeysWork>
      <Or>{t.orPassword}</Or>
      <Form
        onSubmit={onSubmit}
        problem={problem}
        actions={
          <Button type="submit" isBusy={isBusy}>
            {t.join}
          </Button>
        }
      >
        <NewPasswordField label={t.password} help={t.passwordHelp} email={email} form={form} />
      </Form>
    </>
  );
}

function JoinWithPasskey({ secret, name }: { readonly secret: string; readonly name: string }) {
  const t = useText(welcomeText);
  const begin = useAsk('invitation.beginPasskey');
  const accept = useAccept();
  const { isBusy, error, run } = useSending(async () => {
    const { options } = await begin.mutateAsync({ secret });
    // `as`: the service checks what the browser has made.
    const passkey = (await makePasskey(options)) as CallOf<'invitation.accept'>['passkey'];
    await accept({ secret, name, passkey });
  });
  return (
    <>
      <Button kind="primary" icon="tokens" isBusy={isBusy} onClick={() => void run()}>
        {t.joinWithPasskey}
      </Button>
      {error !== undefined && <PasskeyNotice error={error} />}
    </>
  );
}
