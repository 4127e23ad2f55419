/** The audit trail, as customers see that of their account, and operators all of it. docs/decisions/0623 */

import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import type { Executor } from '#db/schema/schema.ts';
import { type AuditFilter, findAuditEvent, listAuditEvents } from '#db/tables/audit.ts';
import type { Handler } from './handler.ts';

export const AUDIT_HANDLERS = {
  'audit.list': ({ db, accountId }, filter) => pageOf(db.query, { ...filter, accountId }, accountId),
  'audit.get': ({ db, accountId }, { id }) => eventOf(db.query, id, accountId),
  'auditOperator.list': ({ db }, filter) => pageOf(db.query, filter, undefined),
  'auditOperator.get': ({ db }, { id }) => eventOf(db.query, id, undefined),
} satisfies { readonly [N in RouteName as N extends `audit${string}` ? N : never]: Handler<N> };

async function pageOf(x: Executor, filter: AuditFilter, viewer: number | undefined) {
  if (filter.from !== undefined && filter.until !== undefined && filter.from > filter.until)
    throw new ServiceError('timeRangeReversed');
  const events = await listAuditEvents(x, filter);
  const next = events.length < filter.limit ? '' : String(events.at(-1)?.id ?? '');
  return { views: events.map((event) => ({ event, viewer })), next };
}

async function eventOf(x: Executor, id: number, viewer: number | undefined) {
  const event = await findAuditEvent(x, { id, accountId: viewer });
  if (event === undefined) throw new ServiceError('auditEventNotFound', { id });
  return { event, viewer };
}
