/** One list of addresses: what is on it, and the domains that use it. */
import { useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { Button } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { ConfirmChange } from '../../forms/confirm-change.tsx';
import { useRead } from '../../queries.ts';
import { readAddressListName } from '../../routes/delivery.ts';
import { domainsPath } from '../../routes/domains.ts';
import { PATHS } from '../../routes.ts';
import { useServices, useSession } from '../../services.tsx';
import { addressListsText } from '../../text/address-lists.ts';
import { useText } from '../../text/catalogue.ts';
import { AddressListForm } from './address-list-form.tsx';

type AddressList = DataOf<'addressList.get'>;

export function EditAddressList() {
  const t = useText(addressListsText);
  const name = readAddressListName(useSearch());
  return (
    <Page
      title={name === '' ? t.add : name}
      isName={name !== ''}
      back={{ to: PATHS.addressLists, title: t.title }}
      isNarrow
    >
      {name === '' ? <NewList /> : <StoredList key={name} name={name} />}
    </Page>
  );
}

/** The names are needed: to set a list of a known name would replace it. */
function NewList() {
  const load = useRead('addressList.list', {});
  return (
    <Loaded load={load} lines={8}>
      {({ list }) => <AddressListForm taken={list.map(({ name }) => name)} />}
    </Loaded>
  );
}

function StoredList({ name }: { readonly name: string }) {
  const load = useRead('addressList.get', { name });
  return (
    <Loaded load={load} lines={8}>
      {(stored) => (
        <>
          <AddressListForm stored={stored} taken={[]} />
          <Uses list={stored} />
        </>
      )}
    </Loaded>
  );
}

function Uses({ list: { name, domains } }: { readonly list: AddressList }) {
  const t = useText(addressListsText);
  const { toasts } = useServices();
  const [, navigate] = useLocation();
  const mayWrite = useSession().access.includes('write');
  const [isDeleting, setDeleting] = useState(false);
  const isUsed = domains.length > 0;
  const onDone = () => {
    toasts.show({ about: `address list ${name}`, title: t.removed(name) });
    navigate(PATHS.addressLists);
  };
  return (
    <Card
      title={t.domains}
      actions={
        mayWrite && (
          <Button icon="trash" disabled={isUsed} onClick={() => setDeleting(true)}>
            {t.remove}
          </Button>
        )
      }
    >
      <div className="stack">
        {isUsed && (
          <ul>
            {domains.map((domain) => (
              <li key={domain}>
                <Link href={domainsPath({ name: domain })} className="mono wrap">
                  {domain}
                </Link>
              </li>
            ))}
          </ul>
        )}
        <p className="help">{isUsed ? t.inUse : t.unused}</p>
      </div>
      {isDeleting && (
        <ConfirmChange
          name="addressList.delete"
          request={{ name }}
          title={t.removeTitle(name)}
          action={t.remove}
          onDone={onDone}
          onClose={() => setDeleting(false)}
        >
          {t.removeHelp}
        </ConfirmChange>
      )}
    </Card>
  );
}
