/** Codes of an authenticator app (TOTP): set up in three steps, or turned off. */
import { useState } from 'react';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { CopyBox } from '../../components/copy.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Notice } from '../../components/notice.tsx';
import { QrCode } from '../../components/qr-code.tsx';
import { Time } from '../../components/time.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { Form } from '../../forms/form.tsx';
import { problemOf, useChange } from '../../queries.ts';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import type { Person } from './password-card.tsx';
import { RecoveryCodes } from './recovery-codes.tsx';

export function TotpCard({ person: { totp_at } }: { readonly person: Person }) {
  const t = useText(securityText);
  const begin = useChange('person.beginTotp');
  const [begun, setBegun] = useState<DataOf<'person.beginTotp'>>();
  const [isAsked, setAsked] = useState(false);
  const isOn = totp_at > 0;
  return (
    <Card
      title={t.totp}
      actions={
        isOn ? (
          <Button onClick={() => setAsked(true)}>{t.turnTotpOff}</Button>
        ) : (
          <Button isBusy={begin.isPending} onClick={() => begin.mutate({}, { onSuccess: setBegun })}>
            {t.setUpTotp}
          </Button>
        )
      }
    >
      <p>
        {isOn ? t.totpOn : t.totpOff} {isOn && <Time at={totp_at} />}
      </p>
      <p className="help">{t.totpHelp}</p>
      {begin.error && <Notice tone="bad">{problemOf(begin.error).text}</Notice>}
      {begun && <SetUp begun={begun} onClose={() => setBegun(undefined)} />}
      {isAsked && (
        <ConfirmChange
          name="person.removeTotp"
          request={{}}
          title={t.turnTotpOffTitle}
          action={t.turnTotpOff}
          onClose={() => setAsked(false)}
        >
          {t.turnTotpOffHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

interface SetUpProps {
  readonly begun: DataOf<'person.beginTotp'>;
  readonly onClose: () => void;
}

function SetUp({ begun: { url, secret }, onClose }: SetUpProps) {
  const t = useText(securityText);
  const confirm = useChange('person.confirmTotp');
  const [code, setCode] = useState('');
  if (confirm.data) return <RecoveryCodes codes={confirm.data.recovery_codes} onClose={onClose} />;
  return (
    <Dialog title={t.setUpTotp} isOpen onClose={onClose}>
      <p>{t.scan}</p>
      <QrCode text={url} label={t.qrCode} />
      <CopyBox text={secret} what={t.key} />
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          confirm.mutate({ code: code.trim() });
        }}
        problem={confirm.error ? problemOf(confirm.error) : undefined}
        actions={
          <Button kind="primary" type="submit" isBusy={confirm.isPending}>
            {t.confirm}
          </Button>
        }
      >
        <Field label={t.code}>
          {(ids) => (
            <TextInput
              ids={ids}
              isMono
              inputMode="numeric"
              autoComplete="one-time-code"
              value={code}
              onChange={(event) => setCode(event.target.value)}
            />
          )}
        </Field>
      </Form>
    </Dialog>
  );
}
