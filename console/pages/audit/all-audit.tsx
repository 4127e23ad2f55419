/** The audit trail of all accounts, and of what only operators own. */
import { Link, useLocation, useSearch } from 'wouter';
import { SearchInput } from '../../components/input.tsx';
import { useTyped } from '../../lib/use-typed.ts';
import { usePages, useRead } from '../../queries.ts';
import { type AuditQuery, auditPath, readAuditQuery } from '../../routes/account.ts';
import { accountPath } from '../../routes/operators.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { shellText } from '../../text/shell.ts';
import { AuditFilter } from './audit-filter.tsx';
import { AuditList } from './audit-list.tsx';
import { auditRequest } from './audit-request.ts';
import { EventDialog } from './event-dialog.tsx';

export function AllAudit() {
  const t = useText(auditText);
  const { allAudit: title } = useText(shellText).pages;
  const [, navigate] = useLocation();
  const query = readAuditQuery(useSearch());
  const pages = usePages('auditOperator.list', auditRequest(query), 'before');
  const change = (next: AuditQuery) => navigate(auditPath(next, 'allAudit'), { replace: true });
  return (
    <AuditList
      title={title}
      help={t.allHelp}
      pages={pages}
      owner={{
        id: 'account',
        title: t.account,
        show: ({ account_id }) => <Owner accountId={account_id} />,
      }}
      pathOf={({ event_id }) => auditPath({ ...query, event: event_id }, 'allAudit')}
      filter={
        <AuditFilter query={query} kinds={{ ...t.kinds, ...t.operatorKinds }} onChange={change}>
          <AccountFilter query={query} onChange={change} />
        </AuditFilter>
      }
    >
      {query.event !== '' && (
        <Event eventId={query.event} onClose={() => navigate(auditPath({ ...query, event: '' }, 'allAudit'))} />
      )}
    </AuditList>
  );
}

interface AccountFilterProps {
  readonly query: AuditQuery;
  readonly onChange: (query: AuditQuery) => void;
}

/** A text that is no number is no id, and narrows nothing. */
function AccountFilter({ query, onChange }: AccountFilterProps) {
  const t = useText(auditText);
  const typed = useTyped(query.account, (text) => onChange({ ...query, account: text.trim() }));
  return <SearchInput label={t.accountId} inputMode="numeric" {...typed} />;
}

function Owner({ accountId }: { readonly accountId: string }) {
  const t = useText(auditText);
  if (accountId === '') return <span className="dim">{t.operators}</span>;
  return <Link href={accountPath(accountId)}>{accountId}</Link>;
}

function Event({ eventId, onClose }: { readonly eventId: string; readonly onClose: () => void }) {
  const t = useText(auditText);
  const load = useRead('auditOperator.get', { event_id: eventId });
  const owner = load.kind === 'ready' && { title: t.account, value: <Owner accountId={load.data.account_id} /> };
  return <EventDialog {...{ eventId, load, onClose }} facts={owner ? [owner] : []} />;
}
