/** Domains of an account: what only the operator may do to them. */
import { useState } from 'react';
import { useSearch } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { GROUP_OPERATIONS } from '#contract/operators/group-operations.ts';
import { OPERATOR_OPERATIONS } from '#contract/operators/operator-operations.ts';
import { Card } from '../../../components/card.tsx';
import { Empty, Loaded } from '../../../components/loaded.tsx';
import { Menu } from '../../../components/menu.tsx';
import { Pager } from '../../../components/pager.tsx';
import { type Column, Table } from '../../../components/table.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useChange, useRead } from '../../../queries.ts';
import { accountPath, readPageQuery } from '../../../routes/operators.ts';
import { useServices, useSession } from '../../../services.tsx';
import { DOMAIN_GROUP_WORDS, TRANSFER_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';
import { DomainState } from '../../domains/domain-state.tsx';

type Domain = DataOf<'operator.listDomains'>['list'][number];
interface Asked {
  readonly what: 'disable' | 'transfer' | 'groups';
  readonly domain: Domain;
}

const PAGE_SIZE = 50;
/** Code of `domain_status`. */
const DISABLED = 6;

export function AccountDomains({ accountId }: { readonly accountId: string }) {
  const t = useText(accountsText);
  const { page } = readPageQuery(useSearch());
  const [asked, setAsked] = useState<Asked>();
  const request = { account_id: accountId, page, page_size: PAGE_SIZE };
  const load = useRead('operator.listDomains', request, { keepsPrevious: true });
  const columns = useColumns(setAsked);
  return (
    <Card title={t.domains} isFlush>
      <Loaded load={load} isEmpty={({ total }) => total === 0} empty={<Empty icon="domains" title={t.noDomains} />}>
        {({ list, total }) => (
          <>
            <Table label={t.domains} columns={columns} rows={list} keyOf={({ domain_id }) => domain_id} />
            <Pager {...{ page, total }} pageSize={PAGE_SIZE} pathOf={(n) => accountPath(accountId, 'domains', n)} />
          </>
        )}
      </Loaded>
      {asked && <AskedDialog {...asked} onClose={() => setAsked(undefined)} />}
    </Card>
  );
}

function useColumns(onAsk: (asked: Asked) => void): readonly Column<Domain>[] {
  const t = useText(accountsText);
  return [
    {
      id: 'domain',
      title: t.domain,
      phone: 'first',
      show: ({ domain_name }) => <span className="mono wrap">{domain_name}</span>,
    },
    { id: 'state', title: t.state, show: (domain) => <DomainState domain={domain} /> },
    { id: 'type', title: t.type, phone: 'hidden', show: ({ cdn_type }) => <span className="dim">{cdn_type}</span> },
    {
      id: 'origin',
      title: t.origin,
      phone: 'hidden',
      show: ({ origin }) => <span className="mono wrap">{origin.join(', ')}</span>,
    },
    { id: 'created', title: t.createdAt, phone: 'hidden', show: ({ create_time }) => create_time },
    { id: 'actions', title: t.actions, phone: 'second', show: (domain) => <Actions domain={domain} onAsk={onAsk} /> },
  ];
}

interface ActionsProps {
  readonly domain: Domain;
  readonly onAsk: (asked: Asked) => void;
}

function Actions({ domain, onAsk }: ActionsProps) {
  const t = useText(accountsText);
  const { access } = useSession();
  const setStatus = useChange('operator.setDomainStatus');
  const { account_id, domain_id, domain_name, domain_status } = domain;
  const isDisabled = Number(domain_status) === DISABLED;
  const enable = () => setStatus.mutate({ account_id, domain_id, action: 'enable' });
  const items = [
    ...(access.includes('write')
      ? [
          isDisabled
            ? { title: t.enableDomain, onChoose: enable }
            : { title: t.disableDomain, onChoose: () => onAsk({ what: 'disable', domain }) },
          { title: t.setGroups, onChoose: () => onAsk({ what: 'groups', domain }) },
        ]
      : []),
    ...(access.includes('manage') ? [{ title: t.transfer, onChoose: () => onAsk({ what: 'transfer', domain }) }] : []),
  ];
  return items.length > 0 && <Menu label={`${t.actions}: ${domain_name}`} icon="more" groups={[{ items }]} />;
}

function AskedDialog({ what, domain, onClose }: Asked & { readonly onClose: () => void }) {
  const t = useText(accountsText);
  const { toasts } = useServices();
  const { account_id, domain_id, domain_name } = domain;
  if (what === 'disable') {
    return (
      <ConfirmChange
        title={t.disableDomainTitle(domain_name)}
        action={t.disableDomain}
        name="operator.setDomainStatus"
        request={{ account_id, domain_id, action: 'disable' }}
        onClose={onClose}
      >
        {t.disableDomainHelp}
      </ConfirmChange>
    );
  }
  if (what === 'groups') return <GroupsDialog domain={domain} onClose={onClose} />;
  return (
    <FormDialog
      title={t.transferTitle(domain_name)}
      help={t.transferHelp}
      action={t.transfer}
      name="operator.transferDomain"
      contract={OPERATOR_OPERATIONS['operator.transferDomain'].request}
      words={TRANSFER_WORDS}
      initial={{ account_id, domain_id, to_account_id: '' }}
      onDone={() => {
        toasts.show({ about: `domain ${domain_id}`, title: t.transferred(domain_name) });
        onClose();
      }}
      onClose={onClose}
    />
  );
}

interface GroupsDialogProps {
  readonly domain: Domain;
  readonly onClose: () => void;
}

/** Opens when it is known which groups there are, and which of them serve the domain. */
function GroupsDialog({ domain: { account_id, domain_id, domain_name }, onClose }: GroupsDialogProps) {
  const t = useText(accountsText);
  const all = useRead('groupOperator.list', {});
  const own = useRead('groupOperator.getDomain', { account_id, domain_id });
  if (all.kind !== 'ready' || own.kind !== 'ready') return null;
  return (
    <FormDialog
      title={t.groupsTitle(domain_name)}
      help={t.groupsHelp}
      action={t.setGroups}
      name="groupOperator.setDomain"
      contract={GROUP_OPERATIONS['groupOperator.setDomain'].request}
      words={DOMAIN_GROUP_WORDS}
      initial={{ account_id, domain_id, groups: own.data.groups }}
      choices={{ groups: all.data.list.map(({ name }) => name) }}
      onDone={onClose}
      onClose={onClose}
    />
  );
}
