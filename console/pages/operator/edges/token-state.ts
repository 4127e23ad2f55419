/** Whether a machine can still enrol with a token. Pure. */
import type { DataOf } from '#contract/operations.ts';

export type EdgeToken = DataOf<'fleetOperator.listTokens'>['list'][number];

type Counted = Pick<EdgeToken, 'revoked_at' | 'expires_at' | 'used' | 'uses'>;

/** `now` in milliseconds. */
export function tokenState(token: Counted, now: number): 'open' | 'used' | 'expired' | 'revoked' {
  if (token.revoked_at > 0) return 'revoked';
  if (token.used >= token.uses) return 'used';
  return token.expires_at * 1000 <= now ? 'expired' : 'open';
}
