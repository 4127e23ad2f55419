/** The `/domain/*` operations: a customer's own domains. */

import { localizeReason } from '#contract/errors/reasons.ts';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { RouteName } from '#contract/routes.ts';
import { quote } from '#contract/schema/found.ts';
import { listServingEdges } from '#db/tables/serving-edges.ts';
import { findLagging, isInForce } from '#model/acknowledgement.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { problemWithSuffix } from '#model/domain-name.ts';
import { stateWhenAdded } from '#model/transition.ts';
import { addDomain, changeDomain, changeRemark, deleteDomain } from '../settings/change.ts';
import { changeTopic, settingsWith } from '../settings/change-topics.ts';
import { rollingBack } from '../settings/rolling-back.ts';
import { refuseMissingOrigins } from '../settings/topics.ts';
import { DOMAIN_CHANGE_HANDLERS } from './domain-changes.ts';
import { DOMAIN_VIEW_HANDLERS } from './domain-views.ts';
import type { Handler } from './handler.ts';
import { listDomainViews } from './list-domains.ts';
import { originWarningsOf } from './origin-warnings-of.ts';
import { domainKeyOf, readOwnDomain } from './own-domain.ts';
import { changeState } from './state.ts';

export const DOMAIN_HANDLERS = {
  ...DOMAIN_CHANGE_HANDLERS,
  ...DOMAIN_VIEW_HANDLERS,

  'domain.get': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    const edges = await listServingEdges(call.db.query, domain.id, call.now);
    const waitingFor = findLagging(domain, edges).map(({ edge }) => edge);
    return {
      domain,
      isInForce: isInForce(domain, edges),
      waitingFor,
      warnings: await originWarningsOf(call, domain, edges),
    };
  },

  'domain.add': async (call, input) => {
    const { now, accountId, cnameSuffix, maxDomains, review } = call;
    const { name, type, icpNumber, remark, set, isDryRun, ...chosen } = input;
    const reason = problemWithSuffix(name, cnameSuffix);
    if (reason !== undefined)
      throw new ServiceError('domainNameInvalid', { entry: quote(name), reason: localizeReason(reason) });
    const settings = { ...DEFAULT_SETTINGS, ...chosen };
    refuseMissingOrigins(type, settings);
    const state = stateWhenAdded(review);
    const added = { accountId, name, type, icpNumber, remark, state, createdAt: now, settings };
    const db = isDryRun ? rollingBack(call.db) : call.db;
    const domain = await addDomain(db, added, maxDomains, now, (bare, trx) => settingsWith(bare, set, trx, call));
    return { domain: isDryRun ? undefined : domain, warnings: await originWarningsOf(call, domain) };
  },

  'domain.updateOrigin': async (call, input) => {
    const domain = await changeTopic(call, input.domainId, 'origin', input);
    return { warnings: await originWarningsOf(call, domain) };
  },

  'domain.list': async ({ db, now, accountId, domainIds }, filter) =>
    listDomainViews(db, now, { ...filter, accountId, domainIds }),

  'domain.delete': async (call, { domainId }) => {
    await deleteDomain(call.db, domainKeyOf(call, domainId), call.now);
  },

  'domain.setStatus': async (call, { domainId, action }) => {
    await changeDomain(call.db, domainKeyOf(call, domainId), call.now, (domain) => changeState(domain, action));
  },

  'domain.setRemark': async (call, { domainId, remark }) => {
    await changeRemark(call.db, domainKeyOf(call, domainId), remark);
  },
} satisfies {
  readonly [N in RouteName as N extends `domain.${string}`
    ? Exclude<N, 'domain.check' | 'domain.explain' | 'domain.changeMany'>
    : never]: Handler<N>;
};
