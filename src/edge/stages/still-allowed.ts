/** Checks whether a long-lived connection may go on: the site may be closed or its rules changed while it is open. */
import type { EdgeContext } from '../context.ts';
import type { EdgeRequest } from '../request.ts';
import { checkAccess } from './access.ts';

/**
 * `siteId`: the site that the connection began with; absent if any site of the host will do. Returns true if the check
 * fails with an error.
 */
export function isStillAllowed(
  { sites, log }: Pick<EdgeContext, 'sites' | 'log'>,
  request: EdgeRequest,
  siteId?: number,
): boolean {
  try {
    const site = sites.find(request.host);
    if (site === undefined || (siteId !== undefined && site.id !== siteId)) return false;
    return checkAccess(site, request).kind === 'allow';
  } catch (error) {
    log.error(
      { err: error, host: request.host },
      'cannot check whether an open connection is still allowed; keeping it open',
    );
    return true; // the decision made at the beginning stands
  }
}
