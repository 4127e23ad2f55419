/** The access rules: the Referer rule, and lists of what is refused. Omitted fields keep their stored value. docs/decisions/0102 */
import { byOperation } from '#contract/domains/deny-lists.ts';
import { type Domain, eachDenyList } from '#model/domain.ts';
import type { AccessRoute } from '../wire/wire-access.ts';
import { changesTopic } from './changes-topic.ts';
import type { Call, Handler } from './handler.ts';
import { readOwnDomain } from './own-domain.ts';

const LISTS = eachDenyList(() => ({ show: readRules }));

export const ACCESS_HANDLERS = {
  'config.setReferer': changesTopic('referer'),
  'config.setUserAgent': changesTopic('ua'),
  'config.setIp': changesTopic('ip'),
  'config.getReferer': readRules,
  ...byOperation('get', LISTS, 'show'),
} satisfies { readonly [N in AccessRoute]: Handler<N> };

async function readRules(call: Call, { domainId }: { readonly domainId: number }): Promise<Domain> {
  return await readOwnDomain(call, domainId);
}
