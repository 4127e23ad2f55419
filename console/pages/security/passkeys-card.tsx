/** The person's passkeys: each has a name, and can be removed. */
import { useState } from 'react';
import type { CallOf, DataOf } from '#contract/operations.ts';
import { Button, IconButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { Time } from '../../components/time.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { Form } from '../../forms/form.tsx';
import { useSending } from '../../forms/use-sending.ts';
import { makePasskey } from '../../lib/passkey.ts';
import { useChange, useRead } from '../../queries.ts';
import { useServices } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { securityText } from '../../text/security.ts';
import { PasskeyNotice, WherePasskeysWork } from '../sign-in/passkey-button.tsx';

type Passkey = DataOf<'person.listPasskeys'>['list'][number];

export function PasskeysCard() {
  const t = useText(securityText);
  const load = useRead('person.listPasskeys', {});
  const [removed, setRemoved] = useState<Passkey>();
  const columns = useColumns(setRemoved);
  return (
    <Card title={t.passkeys} isFlush>
      <Loaded
        load={load}
        isEmpty={({ list }) => list.length === 0}
        empty={<Empty icon="tokens" title={t.noPasskeys} text={t.passkeysHelp} />}
      >
        {({ list }) => (
          <Table label={t.passkeys} columns={columns} rows={list} keyOf={({ passkey_id }) => passkey_id} />
        )}
      </Loaded>
      <div className="pad">
        <WherePasskeysWork>
          <AddPasskey />
        </WherePasskeysWork>
      </div>
      {removed && (
        <ConfirmChange
          name="person.removePasskey"
          request={{ passkey_id: removed.passkey_id }}
          title={t.removePasskeyTitle(removed.label || t.unnamed)}
          action={t.removePasskey}
          onClose={() => setRemoved(undefined)}
        >
          {t.removePasskeyHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}

function useColumns(onRemove: (passkey: Passkey) => void): readonly Column<Passkey>[] {
  const t = useText(securityText);
  return [
    {
      id: 'label',
      title: t.label,
      phone: 'first',
      show: ({ label }) => label || <span className="dim">{t.unnamed}</span>,
    },
    { id: 'added', title: t.added, show: ({ created_at }) => <Time at={created_at} isRelative /> },
    {
      id: 'used',
      title: t.used,
      phone: 'hidden',
      show: ({ used_at }) => (used_at === 0 ? t.never : <Time at={used_at} isRelative />),
    },
    {
      id: 'remove',
      title: '',
      phone: 'second',
      isNumber: true,
      show: (passkey) => (
        <IconButton
          icon="trash"
          label={`${t.removePasskey}: ${passkey.label || t.unnamed}`}
          onClick={() => onRemove(passkey)}
        />
      ),
    },
  ];
}

function AddPasskey() {
  const t = useText(securityText);
  const { toasts } = useServices();
  const begin = useChange('person.beginPasskey');
  const add = useChange('person.addPasskey');
  const [label, setLabel] = useState('');
  const { isBusy, error, onSubmit } = useSending(async () => {
    const { options } = await begin.mutateAsync({});
    // `as`: the service checks what the browser has made.
    const passkey = (await makePasskey(options)) as CallOf<'person.addPasskey'>['passkey'];
    await add.mutateAsync({ passkey, label: label.trim() });
    setLabel('');
    toasts.show({ about: 'passkey', title: t.passkeyAdded });
  });
  return (
    <Form
      onSubmit={onSubmit}
      actions={
        <Button type="submit" icon="plus" isBusy={isBusy}>
          {t.addPasskey}
        </Button>
      }
    >
      <Field label={t.label} help={t.labelHelp}>
        {(ids) => (
          <TextInput ids={ids} maxLength={64} value={label} onChange={(event) => setLabel(event.target.value)} />
        )}
      </Field>
      {error !== undefined && <PasskeyNotice error={error} />}
    </Form>
  );
}
