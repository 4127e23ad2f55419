/** Inviting somebody by address and role: the link is shown once. */
import { MEMBER_OPERATIONS } from '#contract/people/member-operations.ts';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { membersText } from '../../text/members.ts';
import { type Role, RoleSelect } from './role-select.tsx';
import { ShownLink } from './shown-link.tsx';

const { request } = MEMBER_OPERATIONS['member.invite'];

/** The role that may do least. */
const INITIAL: { readonly email: string; readonly role: Role } = { email: '', role: 'viewer' };

export function InviteDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText(membersText);
  const common = useText(commonText);
  const invite = useChange('member.invite');
  const { values, set, errors, leave, check } = useForm(request, INITIAL);
  if (invite.data) {
    const { link, expires_at } = invite.data;
    return <ShownLink link={link} expiresAt={expires_at} help={t.linkHelp} onClose={onClose} />;
  }
  return (
    <Dialog title={t.invite} isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          if (check()) invite.mutate(values);
        }}
        problem={invite.error ? problemOf(invite.error) : undefined}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={invite.isPending}>
              {t.makeLink}
            </Button>
            <Button onClick={onClose}>{common.cancel}</Button>
          </>
        }
      >
        <Field label={t.email} help={t.emailHelp} error={errors.email}>
          {(ids) => (
            <TextInput
              ids={ids}
              type="email"
              value={values.email}
              onBlur={() => leave('email')}
              onChange={(event) => set({ email: event.target.value.trim() })}
            />
          )}
        </Field>
        <RoleSelect value={values.role} onChange={(role) => set({ role })} />
      </Form>
    </Dialog>
  );
}
