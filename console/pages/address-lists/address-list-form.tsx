/** The form of an address list, which is sent as a whole. docs/decisions/0714 */
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import { ADDRESS_LIST_OPERATIONS } from '#contract/domains/address-list-operations.ts';
import type { DataOf } from '#contract/operations.ts';
import { request } from '#contract/schema/operation.ts';
import { Button, LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Field } from '../../components/field.tsx';
import { TextInput } from '../../components/input.tsx';
import { Notice } from '../../components/notice.tsx';
import { Form } from '../../forms/form.tsx';
import { type FormState, useForm } from '../../forms/use-form.ts';
import { problemOf, useChange } from '../../queries.ts';
import { PATHS } from '../../routes.ts';
import { useServices, useSession } from '../../services.tsx';
import { addressListsText } from '../../text/address-lists.ts';
import { useText } from '../../text/catalogue.ts';
import { commonText } from '../../text/common.ts';
import { areAddresses, readAddresses, type WrittenAddress } from './addresses.ts';
import { AddressesField } from './addresses-field.tsx';

type Stored = DataOf<'addressList.get'>;

/** The addresses are read by `addresses.ts`, which knows their lines. */
const NAME = request({ name: ADDRESS_LIST_OPERATIONS['addressList.set'].request.fields.name });

interface AddressListFormProps {
  /** Absent: a new list. */
  readonly stored?: Stored;
  /** Names that a new list cannot have. */
  readonly taken: readonly string[];
}

export function AddressListForm({ stored, taken }: AddressListFormProps) {
  const t = useText(addressListsText);
  const mayWrite = useSession().access.includes('write');
  // What was stored when the person began: the operation has no revision.
  const [base, setBase] = useState(stored);
  const [text, setText] = useState(textOf(stored));
  const form = useForm(NAME, { name: stored?.name ?? '' });
  const { name } = form.values;
  const written = readAddresses(text);
  const canSave = areAddresses(written);
  const { isPending, refusal, save } = useSave();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (form.check() && canSave && !taken.includes(name)) save(name, written);
  };
  const takeStored = () => {
    setBase(stored);
    setText(textOf(stored));
  };
  return (
    <Card>
      <Form onSubmit={submit} problem={refusal} actions={mayWrite && <Buttons canSave={canSave} isBusy={isPending} />}>
        {stored?.changed_time !== base?.changed_time && !isPending && (
          <Notice tone="warn">
            <p>{t.changedMeanwhile}</p>
            <Button onClick={takeStored}>{t.takeStored}</Button>
          </Notice>
        )}
        {stored === undefined && <NameField form={form} isTaken={!isPending && taken.includes(name)} />}
        <AddressesField {...{ text, written }} onChange={setText} isReadOnly={!mayWrite} />
        {written.length === 0 && stored !== undefined && stored.domains.length > 0 && (
          <Notice tone="warn">{t.emptyInUse}</Notice>
        )}
      </Form>
    </Card>
  );
}

function textOf(stored: Stored | undefined): string {
  return stored?.addresses.join('\n') ?? '';
}

function Buttons({ canSave, isBusy }: { readonly canSave: boolean; readonly isBusy: boolean }) {
  const t = useText(addressListsText);
  const common = useText(commonText);
  return (
    <>
      <Button kind="primary" type="submit" disabled={!canSave} isBusy={isBusy}>
        {t.save}
      </Button>
      <LinkButton to={PATHS.addressLists}>{common.cancel}</LinkButton>
    </>
  );
}

interface NameFieldProps {
  readonly form: FormState<{ readonly name: string }>;
  readonly isTaken: boolean;
}

function NameField({ form: { values, errors, set, leave }, isTaken }: NameFieldProps) {
  const t = useText(addressListsText);
  return (
    <Field label={t.name} help={t.nameHelp} error={isTaken ? t.nameTaken : errors.name}>
      {(ids) => (
        <TextInput
          ids={ids}
          isMono
          value={values.name}
          onBlur={() => leave('name')}
          onChange={({ target }) => set({ name: target.value.trim() })}
        />
      )}
    </Field>
  );
}

function useSave() {
  const t = useText(addressListsText);
  const { toasts } = useServices();
  const [, navigate] = useLocation();
  const change = useChange('addressList.set');
  const save = (name: string, written: readonly WrittenAddress[]) => {
    if (change.isPending) return;
    const onSuccess = () => {
      toasts.show({ about: `address list ${name}`, title: t.saved(name) });
      navigate(PATHS.addressLists);
    };
    change.mutate({ name, addresses: written.map(({ text }) => text) }, { onSuccess });
  };
  return { isPending: change.isPending, refusal: change.error ? problemOf(change.error) : undefined, save };
}
