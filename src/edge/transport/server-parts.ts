/** Dependencies that the servers of all transports share. */
import type { EdgeContext } from '../context.ts';
import type { EdgeLimits } from '../limits.ts';
import type { ClientConnections } from './node-http/request-turns.ts';
import type { Proxies } from './proxies.ts';

export interface ServerParts {
  readonly edge: EdgeContext;
  readonly limits: EdgeLimits;
  readonly connections: ClientConnections;
  readonly proxies: Proxies;
}
