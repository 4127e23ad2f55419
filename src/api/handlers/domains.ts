/** The `/domain/*` operations: a customer's own domains. */

import { quote } from '#contract/found.ts';
import { localizeReason } from '#contract/reasons.ts';
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import { listLiveEdges } from '#db/edges.ts';
import { isInForce } from '#model/acknowledgement.ts';
import { DEFAULT_SETTINGS, type DomainSettings } from '#model/domain.ts';
import { problemWithSuffix } from '#model/domain-name.ts';
import { stateWhenAdded } from '#model/transition.ts';
import { addDomain, changeDomain, changeRemark, changeSettings, deleteDomain } from '../change.ts';
import type { Handler } from './handler.ts';
import { listDomainViews } from './list-domains.ts';
import { readOwnDomain } from './own-domain.ts';
import { changeState } from './state.ts';

export const DOMAIN_HANDLERS = {
  'domain.get': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    return { domain, isInForce: isInForce(domain, await listLiveEdges(call.db.query, call.now)) };
  },

  'domain.add': async ({ db, now, accountId, cnameSuffix, maxDomains, review }, input) => {
    const { name, type, icpNumber, remark, ...chosen } = input;
    const reason = problemWithSuffix(name, cnameSuffix);
    if (reason !== undefined)
      throw new ServiceError('domainNameInvalid', { entry: quote(name), reason: localizeReason(reason) });
    const settings = { ...DEFAULT_SETTINGS, ...chosen };
    refuseMissingOrigins(type, settings);
    const state = stateWhenAdded(review);
    const domain = { accountId, name, type, icpNumber, remark, state, createdAt: now, settings };
    return await addDomain(db, domain, maxDomains, now);
  },

  'domain.updateOrigin': async (call, { domainId, ...chosen }) => {
    await changeSettings(call, domainId, ({ type, settings }) => {
      const changed = {
        ...settings,
        origins: chosen.origins,
        backups: chosen.backups ?? settings.backups,
        originProtocol: chosen.originProtocol ?? settings.originProtocol,
        originHost: chosen.originHost ?? settings.originHost,
      };
      refuseMissingOrigins(type, changed);
      return changed;
    });
  },

  'domain.list': async ({ db, now, accountId }, filter) => listDomainViews(db, now, { ...filter, accountId }),

  'domain.delete': async ({ db, now, accountId }, { domainId }) => {
    await deleteDomain(db, { accountId, domainId }, now);
  },

  'domain.setStatus': async ({ db, now, accountId }, { domainId, action }) => {
    await changeDomain(db, { accountId, domainId }, now, (domain) => changeState(domain, action));
  },

  'domain.setRemark': async ({ db, accountId }, { domainId, remark }) => {
    await changeRemark(db, { accountId, domainId }, remark);
  },
} satisfies { readonly [N in RouteName as N extends `domain.${string}` ? N : never]: Handler<N> };

/** A live domain may be fed by its encoders alone; every other type has something to fetch. */
function refuseMissingOrigins(type: string, settings: DomainSettings): void {
  if (type !== 'live' && settings.origins.length === 0) throw new ServiceError('originsMissing');
}
