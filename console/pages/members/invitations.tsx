/** Invitations that were not accepted yet. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useText } from '../../text/catalogue.ts';
import { membersText } from '../../text/members.ts';
import { shellText } from '../../text/shell.ts';

type Invitation = DataOf<'member.list'>['invitations'][number];

export function Invitations({ list }: { readonly list: readonly Invitation[] }) {
  const t = useText(membersText);
  const shell = useText(shellText);
  const [withdrawn, setWithdrawn] = useState<Invitation>();
  const columns: readonly Column<Invitation>[] = [
    { id: 'email', title: t.email, phone: 'first', show: ({ email }) => <span className="mono">{email}</span> },
    { id: 'role', title: t.role, show: ({ role }) => shell.roles[role] ?? role },
    { id: 'expires', title: t.expires, show: ({ expires_at }) => <Time at={expires_at} /> },
    {
      id: 'withdraw',
      title: '',
      phone: 'second',
      isNumber: true,
      show: (invitation) => (
        <IconButton
          icon="trash"
          label={`${t.withdraw}: ${invitation.email}`}
          onClick={() => setWithdrawn(invitation)}
        />
      ),
    },
  ];
  return (
    <Card title={t.invitations} isFlush>
      <Table label={t.invitations} columns={columns} rows={list} keyOf={({ invitation_id }) => invitation_id} />
      {withdrawn && (
        <ConfirmChange
          name="member.remove"
          request={{ invitation_id: withdrawn.invitation_id }}
          title={t.withdrawTitle(withdrawn.email)}
          action={t.withdraw}
          onClose={() => setWithdrawn(undefined)}
        >
          {t.withdrawHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}
