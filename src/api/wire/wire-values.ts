/** Single values as answers show them. Used by the other `wire-*.ts`. */

import type { RequestOf } from '#contract/operations.ts';
import { flag } from '#contract/schema/fields.ts';
import type { Domain } from '#model/domain.ts';

const FIRST_PAGE = 1;
export const DEFAULT_PAGE_SIZE = 20;

export function readPage({ page = FIRST_PAGE, page_size = DEFAULT_PAGE_SIZE }: RequestOf<'operator.listAccounts'>) {
  return { limit: page_size, offset: (page - 1) * page_size };
}

export function readDomainId({ domain_id }: RequestOf<'domain.get'>) {
  return { domainId: domain_id };
}

/** The condition of a decoded request; `undefined` without one. */
export function readIfRevision(request: unknown): number | undefined {
  if (typeof request !== 'object' || request === null || !('if_revision' in request)) return undefined;
  return typeof request.if_revision === 'number' ? request.if_revision : undefined;
}

/** `revision` of whatever reads settings of a domain. */
export function writeRevision({ settingRevision }: Pick<Domain, 'settingRevision'>): { readonly revision: string } {
  return { revision: String(settingRevision) };
}

/** Unix seconds; 0: never. */
export function writeSeconds(at = 0): number {
  return Math.floor(at / 1000);
}

export function writeFlag(value: boolean): '0' | '1' {
  return flag.schema.encode(value) === '1' ? '1' : '0';
}
