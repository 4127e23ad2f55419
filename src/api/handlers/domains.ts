/** The `/domain/*` operations: a customer's own domains. */
import { quote } from '#contract/found.ts';
import { localizeReason } from '#contract/reasons.ts';
import type { RouteName } from '#contract/routes.ts';
import { ServiceError } from '#contract/service-error.ts';
import { listServingEdges } from '#db/tables/serving-edges.ts';
import { findLagging, isInForce } from '#model/acknowledgement.ts';
import { DEFAULT_SETTINGS, type Domain, type DomainSettings } from '#model/domain.ts';
import { problemWithSuffix } from '#model/domain-name.ts';
import type { EdgeReport } from '#model/edge.ts';
import { stateWhenAdded } from '#model/transition.ts';
import { compileSite } from '#sites/compile.ts';
import { addDomain, changeDomain, changeRemark, changeSettings, deleteDomain } from '../settings/change.ts';
import { toSiteSpec } from '../settings/site-spec.ts';
import { findOriginWarnings, type OriginWarning } from '../wire/origin-warnings.ts';
import type { Call, Handler } from './handler.ts';
import { listDomainViews } from './list-domains.ts';
import { domainKeyOf, readOwnDomain } from './own-domain.ts';
import { changeState } from './state.ts';

export const DOMAIN_HANDLERS = {
  'domain.get': async (call, { domainId }) => {
    const domain = await readOwnDomain(call, domainId);
    const edges = await listServingEdges(call.db.query, domain.id, call.now);
    const waitingFor = findLagging(domain, edges).map(({ edge }) => edge);
    return { domain, isInForce: isInForce(domain, edges), waitingFor, warnings: warningsOf(call, domain, edges) };
  },

  'domain.add': async (call, input) => {
    const { db, now, accountId, cnameSuffix, maxDomains, review } = call;
    const { name, type, icpNumber, remark, ...chosen } = input;
    const reason = problemWithSuffix(name, cnameSuffix);
    if (reason !== undefined)
      throw new ServiceError('domainNameInvalid', { entry: quote(name), reason: localizeReason(reason) });
    const settings = { ...DEFAULT_SETTINGS, ...chosen };
    refuseMissingOrigins(type, settings);
    const state = stateWhenAdded(review);
    const added = { accountId, name, type, icpNumber, remark, state, createdAt: now, settings };
    const domain = await addDomain(db, added, maxDomains, now);
    return { domain, warnings: warningsOf(call, domain, await listServingEdges(db.query, domain.id, now)) };
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
    const domain = await readOwnDomain(call, domainId);
    return { warnings: warningsOf(call, domain, await listServingEdges(call.db.query, domain.id, call.now)) };
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
} satisfies { readonly [N in RouteName as N extends `domain.${string}` ? N : never]: Handler<N> };

function warningsOf(
  { permitsOrigin }: Pick<Call, 'permitsOrigin'>,
  domain: Domain,
  edges: readonly EdgeReport[],
): readonly OriginWarning[] {
  const spec = toSiteSpec({ ...domain, state: 'open' }); // one that waits for its review has origins too
  if (spec === undefined) return [];
  // Only the origins: compiling policies and lists costs far more than the rest of a reading.
  const { id, name, type, state, origins } = spec;
  const compiled = compileSite({ id, name, type, state, origins }, 1);
  return compiled.kind === 'invalid' ? [] : findOriginWarnings(compiled.site, edges, permitsOrigin);
}

/** A live domain may be fed by its encoders alone; every other type has something to fetch. */
function refuseMissingOrigins(type: string, settings: DomainSettings): void {
  if (type !== 'live' && settings.origins.length === 0) throw new ServiceError('originsMissing');
}
