/** The account's lists of addresses, which its domains share. An account has few. */
import { Link, useLocation } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { LinkButton } from '../../components/button.tsx';
import { Card } from '../../components/card.tsx';
import { FewNames } from '../../components/few-names.tsx';
import { Empty, Loaded } from '../../components/loaded.tsx';
import { Page } from '../../components/page.tsx';
import { type Column, Table } from '../../components/table.tsx';
import { formatNumber } from '../../lib/format.ts';
import { useRead } from '../../queries.ts';
import { editAddressListPath } from '../../routes/delivery.ts';
import { usePreference, useSession } from '../../services.tsx';
import { addressListsText } from '../../text/address-lists.ts';
import { useText } from '../../text/catalogue.ts';

type AddressList = DataOf<'addressList.list'>['list'][number];

export function AddressLists() {
  const t = useText(addressListsText);
  const [, navigate] = useLocation();
  const load = useRead('addressList.list', {});
  const columns = useColumns();
  const add = useSession().access.includes('write') && (
    <LinkButton kind="primary" icon="plus" to={editAddressListPath()}>
      {t.add}
    </LinkButton>
  );
  return (
    <Page title={t.title} actions={add}>
      <p className="help">{t.help}</p>
      <Card isFlush>
        <Loaded
          load={load}
          isEmpty={({ list }) => list.length === 0}
          empty={<Empty icon="addressLists" title={t.emptyTitle} text={t.emptyText} />}
        >
          {({ list }) => (
            <Table
              label={t.title}
              columns={columns}
              rows={list}
              keyOf={({ name }) => name}
              onOpen={({ name }) => navigate(editAddressListPath(name))}
            />
          )}
        </Loaded>
      </Card>
    </Page>
  );
}

function useColumns(): readonly Column<AddressList>[] {
  const t = useText(addressListsText);
  const locale = usePreference('locale');
  return [
    {
      id: 'name',
      title: t.name,
      phone: 'first',
      show: ({ name }) => (
        <Link href={editAddressListPath(name)} className="mono wrap">
          {name}
        </Link>
      ),
    },
    {
      id: 'addresses',
      title: t.addresses,
      isNumber: true,
      phone: 'second',
      show: ({ addresses }) => formatNumber(addresses, locale),
    },
    { id: 'domains', title: t.domains, show: ({ domains }) => <FewNames names={domains} /> },
    { id: 'changed', title: t.changed, phone: 'hidden', show: ({ changed_time }) => changed_time },
  ];
}
