/** The roles of the account in view, each with what it may do. */
import type { CallOf } from '#contract/operations.ts';
import { Field } from '../../components/field.tsx';
import { Select } from '../../components/select.tsx';
import { useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { membersText } from '../../text/members.ts';
import { shellText } from '../../text/shell.ts';

const ROLES = {
  customer: ['viewer', 'editor', 'billing', 'owner'],
  operator: ['viewer', 'operator', 'admin'],
} as const satisfies Readonly<Record<string, readonly CallOf<'member.invite'>['role'][]>>;

export type Role = (typeof ROLES)[keyof typeof ROLES][number];

interface RoleSelectProps {
  readonly value: Role;
  readonly onChange: (role: Role) => void;
}

export function RoleSelect({ value, onChange }: RoleSelectProps) {
  const t = useText(membersText);
  const shell = useText(shellText);
  const { accounts, account_id } = useSession();
  const kind = accounts.find((account) => account.account_id === account_id)?.kind ?? 'customer';
  const choices = ROLES[kind].map((role) => ({ value: role, label: shell.roles[role] ?? role }));
  const help = kind === 'operator' && value === 'viewer' ? t.operatorViewer : t.roles[value];
  return (
    <Field label={t.role} help={help}>
      {(ids) => <Select ids={ids} choices={choices} value={value} onChange={onChange} />}
    </Field>
  );
}
