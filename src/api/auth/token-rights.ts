/** What a token may do, compared with what another may. Pure. docs/decisions/0630 */
import { ServiceError } from '#contract/errors/service-error.ts';
import { coversNetwork } from '#lib/cidr.ts';
import type { Token } from '#model/account.ts';

/** Absent members: no limit. */
export type TokenRights = Pick<Token, 'scopes' | 'access'> & {
  readonly [K in 'domainIds' | 'addresses' | 'expiresAt']?: Token[K] | undefined;
};

/** Returns the refusal of rights that exceed `own`; `undefined` if none does. */
export function refusalOfWider(asked: TokenRights, own: TokenRights): ServiceError | undefined {
  const { scopes, access, domainIds, addresses, expiresAt } = own;
  if (!isSubset(asked.scopes, scopes)) return new ServiceError('scopesWidened', { present: scopes.join(', ') });
  if (!isSubset(asked.access, access)) return new ServiceError('accessWidened', { present: access.join(', ') });
  if (domainIds !== undefined && !isSubset(asked.domainIds, domainIds))
    return new ServiceError('domainIdsWidened', { present: domainIds.join(', ') });
  if (addresses !== undefined && !(asked.addresses?.every((network) => coversNetwork(addresses, network)) ?? false))
    return new ServiceError('addressesWidened', { present: addresses.join(', ') });
  if (expiresAt !== undefined && (asked.expiresAt ?? Number.POSITIVE_INFINITY) > expiresAt)
    return new ServiceError('expiryWidened', { present: expiresAt / 1000, moment: new Date(expiresAt).toISOString() });
  return undefined;
}

export function refuseWider(asked: TokenRights, own: TokenRights): void {
  const refusal = refusalOfWider(asked, own);
  if (refusal !== undefined) throw refusal;
}

/** An absent list is one of everything. */
function isSubset<V>(asked: readonly V[] | undefined, present: readonly V[]): boolean {
  return asked?.every((value) => present.includes(value)) ?? false;
}
