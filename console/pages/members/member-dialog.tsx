/** What is done to a member: another role, a link for a new password, removal. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { membersText } from '../../text/members.ts';
import { shellText } from '../../text/shell.ts';
import { type Member, nameOf } from './members.tsx';
import { type Role, RoleSelect } from './role-select.tsx';
import { ShownLink } from './shown-link.tsx';

export interface Asked {
  readonly act: 'role' | 'reset' | 'remove';
  readonly member: Member;
}

interface MemberDialogProps {
  readonly asked: Asked;
  readonly onClose: () => void;
}

export function MemberDialog({ asked: { act, member }, onClose }: MemberDialogProps) {
  const t = useText(membersText);
  switch (act) {
    case 'role':
      return <RoleDialog member={member} onClose={onClose} />;
    case 'reset':
      return <ResetDialog member={member} onClose={onClose} />;
    case 'remove':
      return (
        <ConfirmChange
          name="member.remove"
          request={{ person_id: member.person_id }}
          title={t.removeTitle(nameOf(member))}
          action={t.remove}
          onClose={onClose}
        >
          {t.removeHelp}
        </ConfirmChange>
      );
  }
}

interface ActProps {
  readonly member: Member;
  readonly onClose: () => void;
}

function RoleDialog({ member, onClose }: ActProps) {
  const t = useText(membersText);
  const common = useText(commonText);
  const shell = useText(shellText);
  const { toasts } = useServices();
  const change = useChange('member.setRole');
  // `as`: the service gives what it takes.
  const [role, setRole] = useState(member.role as Role);
  const onSuccess = () => {
    const title = t.roleChanged(nameOf(member), shell.roles[role] ?? role);
    toasts.show({ about: `member ${member.person_id}`, title });
    onClose();
  };
  return (
    <Dialog
      title={t.changeRoleTitle(nameOf(member))}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button
            kind="primary"
            isBusy={change.isPending}
            disabled={role === member.role}
            onClick={() => change.mutate({ person_id: member.person_id, role }, { onSuccess })}
          >
            {t.changeRole}
          </Button>
        </>
      }
    >
      <RoleSelect value={role} onChange={setRole} />
      {change.error && <Notice tone="bad">{problemOf(change.error).text}</Notice>}
    </Dialog>
  );
}

function ResetDialog({ member: { person_id, name, email }, onClose }: ActProps) {
  const t = useText(membersText);
  const common = useText(commonText);
  const reset = useChange('member.resetPassword');
  if (reset.data) {
    const { link, expires_at } = reset.data;
    return <ShownLink link={link} expiresAt={expires_at} help={t.resetHelp} onClose={onClose} />;
  }
  return (
    <Dialog
      title={t.reset}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="primary" isBusy={reset.isPending} onClick={() => reset.mutate({ person_id })}>
            {t.makeLink}
          </Button>
        </>
      }
    >
      <p>{nameOf({ name, email })}</p>
      {reset.error && <Notice tone="bad">{problemOf(reset.error).text}</Notice>}
    </Dialog>
  );
}
