/** The audit trail of the account in view. */
import { useLocation, useSearch } from 'wouter';
import { usePages, useRead } from '../../queries.ts';
import { auditPath, readAuditQuery } from '../../routes/account.ts';
import { auditText } from '../../text/audit.ts';
import { useText } from '../../text/catalogue.ts';
import { AuditFilter } from './audit-filter.tsx';
import { AuditList } from './audit-list.tsx';
import { auditRequest } from './audit-request.ts';
import { EventDialog } from './event-dialog.tsx';

export function Audit() {
  const t = useText(auditText);
  const [, navigate] = useLocation();
  const query = { ...readAuditQuery(useSearch()), account: '' };
  const pages = usePages('audit.list', auditRequest(query), 'before');
  return (
    <AuditList
      title={t.title}
      help={t.help}
      pages={pages}
      pathOf={({ event_id }) => auditPath({ ...query, event: event_id })}
      filter={
        <AuditFilter query={query} kinds={t.kinds} onChange={(next) => navigate(auditPath(next), { replace: true })} />
      }
    >
      {query.event !== '' && (
        <Event eventId={query.event} onClose={() => navigate(auditPath({ ...query, event: '' }))} />
      )}
    </AuditList>
  );
}

function Event({ eventId, onClose }: { readonly eventId: string; readonly onClose: () => void }) {
  const load = useRead('audit.get', { event_id: eventId });
  return <EventDialog {...{ eventId, load, onClose }} />;
}
