/** A person who acts for an account: added by an operator, and let in by a link that is shown once. */
import { useState } from 'react';
import { PEOPLE_OPERATOR_OPERATIONS } from '#contract/people/member-operations.ts';
import { ShownOnce } from '../../../components/shown-once.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { PERSON_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import type { AccountData } from './account.tsx';

const ROLES = {
  customer: ['owner', 'editor', 'viewer', 'billing'],
  operator: ['admin', 'operator', 'viewer'],
} as const;

interface PersonDialogProps extends Pick<AccountData, 'account_id' | 'kind'> {
  readonly onClose: () => void;
}

export function PersonDialog({ account_id, kind, onClose }: PersonDialogProps) {
  const t = useText(accountsText);
  const [link, setLink] = useState('');
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
      words={PERSON_WORDS}
      initial={{ account_id, email: '', name: '', role: ROLES[kind][0] }}
      choices={{ role: ROLES[kind] }}
      onDone={(made) => setLink(made.link)}
      onClose={onClose}
    />
  );
}
