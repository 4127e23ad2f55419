/** A person who acts for an account: added by an operator, and let in by a link that is shown once. */
import { useState } from 'react';
import { PEOPLE_OPERATOR_OPERATIONS } from '#contract/people/member-operations.ts';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useServices } from '../../../services.tsx';
import { ACCOUNT_WORDS, PERSON_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import type { AccountData } from './account.tsx';

const ROLES = {
  customer: ['owner', 'editor', 'viewer', 'billing'],
  operator: ['admin', 'operator', 'viewer'],
} as const;

/** Roles of both kinds, the one that may least first: the service refuses one that the account does not have. */
const ALL_ROLES = ['viewer', 'editor', 'billing', 'owner', 'operator', 'admin'] as const;

interface PersonDialogProps {
  /** Absent: the operator names it. */
  readonly account?: Pick<AccountData, 'account_id' | 'kind'>;
  readonly onClose: () => void;
}

export function PersonDialog({ account, onClose }: PersonDialogProps) {
  const t = useText(accountsText);
  const { toasts } = useServices();
  const [link, setLink] = useState('');
  const roles = account === undefined ? ALL_ROLES : ROLES[account.kind];
  if (link !== '') {
    return (
      <ShownOnce title={t.linkTitle} secret={link} onKept={onClose}>
        <p className="help">{t.linkUse}</p>
      </ShownOnce>
    );
  }
  return (
    <FormDialog
      title={t.addPerson}
      help={t.addPersonHelp}
      action={t.addPerson}
      name="operator.createPerson"
      contract={PEOPLE_OPERATOR_OPERATIONS['operator.createPerson'].request}
      words={account === undefined ? { ...PERSON_WORDS, ...ACCOUNT_WORDS } : PERSON_WORDS}
      initial={{ account_id: account?.account_id ?? '', email: '', name: '', role: roles[0] }}
      choices={{ role: roles }}
      onDone={({ person_id, link: made }) => {
        setLink(made);
        if (made !== '') return;
        toasts.show({ about: `person ${person_id}`, title: t.personKnown });
        onClose();
      }}
      onClose={onClose}
    />
  );
}
