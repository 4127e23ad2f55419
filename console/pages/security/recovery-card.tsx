/** Recovery codes: how many are left, and new ones. */
import { useState } from 'react';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Notice } from '../../components/notice.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { securityText } from '../../text/security.ts';
import type { Person } from './password-card.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

export function RecoveryCard({ person: { totp_at, passkeys, recovery_codes } }: { readonly person: Person }) {
  const t = useText(securityText);
  const [isOpen, setOpen] = useState(false);
  const isPossible = totp_at > 0 || passkeys > 0;
  return (
    <Card title={t.recovery} actions={isPossible && <Button onClick={() => setOpen(true)}>{t.makeCodes}</Button>}>
      <p>{isPossible ? t.recoveryLeft(recovery_codes) : t.recoveryNone}</p>
      <p className="help">{t.recoveryHelp}</p>
      {isOpen && <NewCodes onClose={() => setOpen(false)} />}
    </Card>
  );
}

function NewCodes({ onClose }: { readonly onClose: () => void }) {
  const t = useText(securityText);
  const common = useText(commonText);
  const make = useChange('person.makeRecoveryCodes');
  if (make.data) return <RecoveryCodes codes={make.data.recovery_codes} onClose={onClose} />;
  return (
    <Dialog
      title={t.makeCodesTitle}
      isOpen
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{common.cancel}</Button>
          <Button kind="danger" isBusy={make.isPending} onClick={() => make.mutate({})}>
            {t.makeCodes}
          </Button>
        </>
      }
    >
      <p>{t.makeCodesHelp}</p>
      {make.error && <Notice tone="bad">{problemOf(make.error).text}</Notice>}
    </Dialog>
  );
}
