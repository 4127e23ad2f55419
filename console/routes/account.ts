/** Addresses of the account's own pages: the audit, which operators have of all accounts, and security. */
import { PATHS, SECURITY_TABS, type SecurityTab } from '../routes.ts';
import { digitsOf, oneOf, withQuery } from './query.ts';

/** An unknown tab is the first. */
export function readSecurityTab(tab: string | undefined): SecurityTab {
  return oneOf(SECURITY_TABS, tab ?? null);
}

export interface AuditQuery {
  /** Id of the account that owns what was changed; empty: any. Operators alone narrow by it. */
  readonly account: string;
  readonly operation: string;
  readonly target_kind: string;
  readonly target_id: string;
  /** The event that is looked at; empty: none. */
  readonly event: string;
}

/** `page`: that of the account in view, or that of all accounts. */
export function auditPath(query: Partial<AuditQuery> = {}, page: 'audit' | 'allAudit' = 'audit'): string {
  return withQuery(PATHS[page], { ...query });
}

export function readAuditQuery(search: string): AuditQuery {
  const query = new URLSearchParams(search);
  return {
    account: digitsOf(query.get('account')),
    operation: query.get('operation') ?? '',
    target_kind: query.get('target_kind') ?? '',
    target_id: query.get('target_id') ?? '',
    event: digitsOf(query.get('event')),
  };
}
