/** Events of the audit trail on the wire. Customers learn of operators that it was one, not which. */
import type { DataOf, RequestOf } from '#contract/operations.ts';
import type { AuditActor, AuditEvent } from '#model/audit.ts';
import { DEFAULT_PAGE_SIZE } from './wire-values.ts';

/** `viewer`: the account that sees it; absent: an operator. */
interface AuditView {
  readonly event: AuditEvent;
  readonly viewer: number | undefined;
}

interface AuditPage {
  readonly views: readonly AuditView[];
  readonly next: string;
}

function readFilter({ page_size = DEFAULT_PAGE_SIZE, ...request }: RequestOf<'audit.list'>) {
  return {
    tokenId: request.token_id,
    operation: request.operation,
    targetKind: request.target_kind,
    targetId: request.target_id,
    from: request.starttime,
    until: request.endtime,
    before: request.before,
    limit: page_size,
  };
}

function readEventId({ event_id }: RequestOf<'audit.get'>) {
  return { id: event_id };
}

export const READ_AUDIT = {
  'audit.list': readFilter,
  'audit.get': readEventId,
  'auditOperator.list': ({ account_id, ...request }: RequestOf<'auditOperator.list'>) => ({
    accountId: account_id,
    ...readFilter(request),
  }),
  'auditOperator.get': readEventId,
};

export const WRITE_AUDIT = {
  'audit.list': (page: AuditPage): DataOf<'audit.list'> => writePage(page, writeRow),
  'audit.get': (view: AuditView): DataOf<'audit.get'> => writeEvent(view, writeRow),
  'auditOperator.list': (page: AuditPage): DataOf<'auditOperator.list'> => writePage(page, writeOwnedRow),
  'auditOperator.get': (view: AuditView): DataOf<'auditOperator.get'> => writeEvent(view, writeOwnedRow),
};

function writePage<R extends object>({ views, next }: AuditPage, rowOf: (view: AuditView) => R) {
  return {
    list: views.map((view) => {
      const { before, after } = view.event;
      return { ...rowOf(view), changed: [...new Set([...Object.keys(before), ...Object.keys(after)])] };
    }),
    next,
  };
}

function writeEvent<R extends object>(view: AuditView, rowOf: (view: AuditView) => R) {
  return { ...rowOf(view), before: { ...view.event.before }, after: { ...view.event.after } };
}

function writeOwnedRow(view: AuditView) {
  return { account_id: idText(view.event.accountId), ...writeRow(view) };
}

function writeRow({ event, viewer }: AuditView) {
  const { id, at, operation, target, revision, requestId } = event;
  return {
    event_id: String(id),
    at,
    ...writeActor(event.actor, viewer),
    operation,
    target_kind: target.kind,
    target_id: target.id,
    target_name: target.name,
    revision: revision === undefined ? '' : String(revision),
    request_id: requestId,
  };
}

export function writeActor(actor: AuditActor, viewer: number | undefined) {
  const { kind, name, accountId, tokenId, personId, sessionId, address } = actor;
  const isHidden = viewer !== undefined && kind !== 'service' && accountId !== viewer;
  if (isHidden) return { actor: 'operator', actor_name: '', ...NO_IDS, address: '' } as const;
  const ids = { token_id: idText(tokenId), person_id: idText(personId), session_id: idText(sessionId) };
  return { actor: kind, actor_name: name, ...ids, address };
}

const NO_IDS = { token_id: '', person_id: '', session_id: '' } as const;

function idText(id: number | undefined): string {
  return id === undefined ? '' : String(id);
}
