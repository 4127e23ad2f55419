/** Making a token: for what, for which domains, from where, and until when. */
import { useState } from 'react';
import { TOKEN_OPERATIONS } from '#contract/operators/token-operations.ts';
import { Button } from '../../components/button.tsx';
import { Choices } from '../../components/choices.tsx';
import { Dialog } from '../../components/dialog.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Select } from '../../components/select.tsx';
import { TagList } from '../../components/tag-list.tsx';
import { Form } from '../../forms/form.tsx';
import { useForm } from '../../forms/use-form.ts';
import { unixAfter } from '../../lib/unix-after.ts';
import { problemOf, useChange } from '../../queries.ts';
import { type Session, useSession } from '../../services.tsx';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { tokensText } from '../../text/tokens.ts';
import { ShownToken } from './shown-token.tsx';
import { useDomainIds } from './use-domain-ids.ts';

const { request } = TOKEN_OPERATIONS['token.create'];

/** Days; empty: it does not expire. */
const LIFETIMES = ['30', '90', '365', ''] as const;
type Lifetime = (typeof LIFETIMES)[number];
const DAY_SECONDS = 86_400;

type Values = {
  readonly label: string;
  readonly scopes: readonly Session['scopes'][number][];
  readonly access: readonly Session['access'][number][];
  /** Absent: it may be used from anywhere. */
  readonly addresses: readonly string[] | undefined;
};

export function CreateDialog({ onClose }: { readonly onClose: () => void }) {
  const t = useText(tokensText);
  const common = useText(commonText);
  const session = useSession();
  const create = useChange('token.create');
  const domains = useDomainIds();
  const initial: Values = { label: '', scopes: session.scopes.slice(0, 1), access: ['read'], addresses: undefined };
  const { values, set, errors, leave, check } = useForm(request, initial);
  const [names, setNames] = useState<readonly string[]>([]);
  const [lifetime, setLifetime] = useState<Lifetime>('90');
  // Domains limit what is done to domains, and nothing else.
  const canBeLimited = values.scopes.join() === 'cdn';
  const send = async () => {
    if (!check()) return;
    const domain_ids = await domains.find(canBeLimited ? names : []);
    if (domain_ids === undefined) return;
    const { label, scopes, access, addresses } = values;
    create.mutate({
      label,
      scopes: [...scopes],
      access: [...access],
      ...(domain_ids.length > 0 && { domain_ids: [...domain_ids] }),
      ...(addresses && { addresses: [...addresses] }),
      ...(lifetime !== '' && { expires_at: unixAfter(Number(lifetime) * DAY_SECONDS, Date.now()) }),
    });
  };
  if (create.data) return <ShownToken token={create.data.access_token} onClose={onClose} />;
  return (
    <Dialog title={t.create} isOpen onClose={onClose}>
      <Form
        onSubmit={(event) => {
          event.preventDefault();
          return send();
        }}
        problem={create.error ? problemOf(create.error) : undefined}
        actions={
          <>
            <Button kind="primary" type="submit" isBusy={create.isPending || domains.isBusy}>
              {t.create}
            </Button>
            <Button onClick={onClose}>{common.cancel}</Button>
          </>
        }
      >
        <Field label={t.label} help={t.labelHelp} error={errors.label}>
          {(ids) => (
            <TextInput
              ids={ids}
              value={values.label}
              onBlur={() => leave('label')}
              onChange={(event) => set({ label: event.target.value })}
            />
          )}
        </Field>
        <Choices
          label={t.scopes}
          choices={session.scopes.map((value) => ({ value, label: t.scopeNames[value] }))}
          chosen={values.scopes}
          error={errors.scopes}
          onChange={(scopes) => set({ scopes })}
        />
        <Choices
          label={t.access}
          choices={session.access.map((value) => ({ value, label: t.accessNames[value] }))}
          chosen={values.access}
          error={errors.access}
          onChange={(access) => set({ access })}
        />
        {canBeLimited && (
          <ListField label={t.domains} help={t.domainsHelp} error={domains.error} entries={names} onChange={setNames} />
        )}
        <ListField
          label={t.addresses}
          help={t.addressesHelp}
          error={errors.addresses}
          entries={values.addresses ?? []}
          onChange={(list) => set({ addresses: list.length === 0 ? undefined : list })}
        />
        <LifetimeField value={lifetime} onChange={setLifetime} />
      </Form>
    </Dialog>
  );
}

interface LifetimeFieldProps {
  readonly value: Lifetime;
  readonly onChange: (value: Lifetime) => void;
}

function LifetimeField({ value, onChange }: LifetimeFieldProps) {
  const t = useText(tokensText);
  return (
    <Field label={t.expires}>
      {(ids) => (
        <Select
          ids={ids}
          choices={LIFETIMES.map((days) => ({ value: days, label: t.lifetimes[days] }))}
          value={value}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

interface ListFieldProps {
  readonly label: string;
  readonly help: string;
  readonly error: string | undefined;
  readonly entries: readonly string[];
  readonly onChange: (entries: readonly string[]) => void;
}

function ListField({ label, help, error, entries, onChange }: ListFieldProps) {
  return (
    <Field label={label} help={help} error={error}>
      {(ids) => <TagList ids={ids} entries={entries} onChange={onChange} />}
    </Field>
  );
}
