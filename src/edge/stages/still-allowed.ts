/** Whether a connection that lasts may go on: the site may be closed, or its rules changed, long before it ends. */
import type { EdgeContext } from '../context.ts';
import type { EdgeRequest } from '../request.ts';
import { checkAccess } from './access.ts';

/** `siteId`: of the site that it began with; absent: whichever the host has now will do. */
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
    return true; // what could be read at its beginning stands
  }
}
