/** The person's password. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { PERSON_OPERATIONS } from '#contract/people/person-operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Time } from '../../components/time.tsx';
import { Form } from '../../forms/form.tsx';
import { NewPasswordField } from '../../forms/new-password-field.tsx';
import { useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { securityText } from '../../text/security.ts';

export type Person = DataOf<'person.get'>;

const { request } = PERSON_OPERATIONS['person.setPassword'];

export function PasswordCard({ person: { email, password_at } }: { readonly person: Person }) {
  const t = useText(securityText);
  const [isOpen, setOpen] = useState(false);
  const title = password_at > 0 ? t.changePassword : t.setPassword;
  return (
    <Card title={t.password} actions={<Button onClick={() => setOpen(true)}>{title}</Button>}>
      {password_at > 0 ? (
        <p>
          {t.passwordSet} <Time at={password_at} />
        </p>
      ) : (
        <p>{t.passwordNone}</p>
      )}
      {isOpen && <PasswordDialog title={title} email={email} onClose={() => setOpen(false)} />}
    </Card>
  );
}

interface PasswordDialogProps {
  readonly title: string;
  readonly email: string;
  readonly onClose: () => void;
}

function PasswordDialog({ title, email, onClose }: PasswordDialogProps) {
  const t = useText(securityText);
  const common = useText(commonText);
  const { toasts } = useServices();
  const change = useChange('person.setPassword');
  const form = useForm(request, { password: '' });
  const onSuccess = () => {
    toasts.show({ about: 'password', title: t.passwordDone });
    onClose();
  };
  return (
    <Dialog title={title} isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (form.check()) change.mutate(form.values, { onSuccess });
        }}
        problem={change.error ? problemOf(change.error) : undefined}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={change.isPending}>
              {title}
            </Button>
            <Button onClick={onClose}>{common.cancel}</Button>
          </>
        }
      >
        <NewPasswordField label={t.newPassword} help={t.newPasswordHelp} email={email} form={form} />
      </Form>
    </Dialog>
  );
}
