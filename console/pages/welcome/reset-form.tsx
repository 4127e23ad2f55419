/** A new password by a link: afterwards the person signs in with it. */
import { MEMBER_OPERATIONS } from '#contract/people/member-operations.ts';
import { Button } from '../../components/button.tsx';
import { Form } from '../../forms/form.tsx';
import { NewPasswordField } from '../../forms/new-password-field.tsx';
import { useForm } from '../../forms/use-form.ts';
import { useSending } from '../../forms/use-sending.ts';
import { useText } from '../../text/catalogue.ts';
import { welcomeText } from '../../text/welcome.ts';
import { useAccept } from './use-accept.ts';
import type { LinkProps } from './welcome.tsx';

const { request } = MEMBER_OPERATIONS['invitation.accept'];

export function ResetForm({ secret, link: { email } }: LinkProps) {
  const t = useText(welcomeText);
  const accept = useAccept();
  const form = useForm(request, { secret, password: '' });
  const { isBusy, problem, onSubmit } = useSending(async () => form.check() && (await accept(form.values)));
  return (
    <>
      <p className="help">{t.resetHelp(email)}</p>
      <Form
        onSubmit={onSubmit}
        problem={problem}
        actions={
          <Button kind="primary" type="submit" isBusy={isBusy}>
            {t.setPassword}
          </Button>
        }
      >
        <NewPasswordField label={t.password} help={t.passwordHelp} email={email} form={form} />
      </Form>
    </>
  );
}
