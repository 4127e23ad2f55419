/** What only the operator may do to a domain: disable it, choose the edges that serve it, give it to another account. */
import { useLocation } from 'wouter';
import type { DataOf } from '#contract/operations.ts';
import { GROUP_OPERATIONS } from '#contract/operators/group-operations.ts';
import { OPERATOR_OPERATIONS } from '#contract/operators/operator-operations.ts';
import { Menu } from '../../../components/menu.tsx';
import { ConfirmChange } from '../../../forms/confirm-change.tsx';
import { FormDialog } from '../../../forms/form-dialog.tsx';
import { useAtOnce } from '../../../forms/use-at-once.ts';
import { useRead } from '../../../queries.ts';
import { liveDomainPath } from '../../../routes/streams.ts';
import { useServices, useSession } from '../../../services.tsx';
import { DOMAIN_GROUP_WORDS, TRANSFER_WORDS } from '../../../text/account-fields.ts';
import { accountsText } from '../../../text/accounts.ts';
import { useText } from '../../../text/catalogue.ts';

export type Domain = DataOf<'operator.listDomains'>['list'][number];

export interface Asked {
  readonly what: 'disable' | 'transfer' | 'groups';
  readonly domain: Domain;
}

/** Code of `domain_status`. */
const DISABLED = 6;
/** Code of `cdn_type`. */
const LIVE = '4';

interface DomainActsProps {
  readonly domain: Domain;
  readonly onAsk: (asked: Asked) => void;
}

export function DomainActs({ domain, onAsk }: DomainActsProps) {
  const t = useText(accountsText);
  const { access } = useSession();
  const { run: setStatus } = useAtOnce('operator.setDomainStatus');
  const [, navigate] = useLocation();
  const { account_id, domain_id, domain_name, domain_status, cdn_type_id } = domain;
  const isDisabled = Number(domain_status) === DISABLED;
  const enable = () =>
    setStatus({ account_id, domain_id, action: 'enable' }, { about: `domain ${domain_id}`, name: domain_name });
  const items = [
    ...(access.includes('write')
      ? [
          isDisabled
            ? { title: t.enableDomain, onChoose: enable }
            : { title: t.disableDomain, onChoose: () => onAsk({ what: 'disable', domain }) },
          { title: t.setGroups, onChoose: () => onAsk({ what: 'groups', domain }) },
        ]
      : []),
    ...(cdn_type_id === LIVE ? [{ title: t.live, onChoose: () => navigate(liveDomainPath(domain_name)) }] : []),
    ...(access.includes('manage') ? [{ title: t.transfer, onChoose: () => onAsk({ what: 'transfer', domain }) }] : []),
  ];
  return items.length > 0 && <Menu label={`${t.actions}: ${domain_name}`} icon="more" groups={[{ items }]} />;
}

export function AskedDialog({ what, domain, onClose }: Asked & { readonly onClose: () => void }) {
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
