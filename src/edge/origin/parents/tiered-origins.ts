/**
 * Asks parents before origins: the best of a key, then the second best, then the origins. A parent's answer is final,
 * also an error that the origin gave it. docs/decisions/0732
 */
import { FieldNames } from '#http/field-names.ts';
import { firstValue, withoutFields } from '#http/headers.ts';
import { after, type Eventual } from '#lib/future.ts';
import type { Site } from '#sites/site.ts';
import type { OriginFailure } from '../../reasons.ts';
import { FRESH_FIELD, formatTier, MAX_HOPS, parseFresh, TIER_FIELD } from '../../tier-fields.ts';
import { askOrigin, type Cacheable, type Fetch, type FetchResult, type Origins } from '../fetch.ts';
import { type AttemptTools, discardBody, type OriginResponse } from '../origin-request.ts';
import type { ParentHealth } from './parent-health.ts';
import { rankParents } from './rank.ts';
import type { Parent, Tiers } from './tiers.ts';

export interface TieredOriginsOptions extends AttemptTools {
  readonly tiers: Tiers;
  readonly health: ParentHealth;
  /** Where what parents cannot answer is asked. */
  readonly origins: Origins;
  /** Called for every attempt that failed, for logs and metrics. */
  readonly onFailure: (parent: string, detail: string) => void;
  /** Counts how a fetch that may use parents ended. */
  readonly onFetched: (through: 'parent' | 'origin') => void;
}

/** Parents that are asked for one request. */
const MAX_PARENTS = 2;
/** The pools of parents are shared by all sites: a parent is an edge of the same fleet. */
const ALL_SITES = 0;
/** Failures that are not the parent's: asking elsewhere would only add load. */
const OWN_FAILURES: ReadonlySet<OriginFailure> = new Set(['buffersFull', 'noSocket']);
/** All sites share the connections to a parent: requests that find none free do not fail by the load of other sites. */
const CROWDED: ReadonlySet<OriginFailure> = new Set(['originBusy', 'originShare']);
/**
 * Failures and statuses of a parent that cannot answer anything. The others are about one request: an origin that
 * causes them, such as by a body that breaks off at once (502) or a head that is too large with the parent's fields, is
 * not to put the parent out for all sites.
 */
const PARENT_FAULTS: ReadonlySet<OriginFailure | number> = new Set([
  'originConnect',
  'originConnectTimeout',
  'originTls',
  'originReset',
  'originTimeout',
  500,
  503,
]);
/** The age from which every response is absent at the parent too. docs/decisions/0081 */
const MAX_NEWER_MS = 30 * 24 * 3600 * 1000;
const FRESH = new FieldNames([FRESH_FIELD.toLowerCase()]);

export interface RankedParent extends Parent {
  /** Whether it has failed of late, so that it is not asked. */
  readonly isOut: boolean;
}

export interface TieredOrigins extends Origins {
  /** Whether objects of the site are fetched through parents. */
  usesParents(site: Site): boolean;
  /** Lists the parents that a key may be fetched through, the best first; empty: origins are asked. */
  parentsOf(site: Site, key: string): readonly RankedParent[];
}

export function createTieredOrigins(options: TieredOriginsOptions): TieredOrigins {
  const { tiers, health, origins, clock, onFailure, onFetched } = options;
  const { pools } = options;
  const tools: AttemptTools = {
    ...options,
    pools: { ...pools, get: (_, destination) => pools.get(ALL_SITES, destination) },
  };

  const askFrom = (index: number, asked: readonly Parent[], fetch: Fetch, what: Cacheable): Eventual<FetchResult> => {
    const parent = asked[index];
    if (parent === undefined) {
      onFetched('origin');
      return origins.fetch(fetch);
    }
    return after(askParent(parent, fetch, what), ({ result, askedAt }) => {
      if (result.kind === 'aborted') return result;
      const response = result.kind === 'response' ? readAnswer(result.response, askedAt) : undefined;
      if (response !== undefined) {
        health.noteAnswer(parent.edge);
        onFetched('parent');
        return { kind: 'response', response };
      }
      if (result.kind === 'failure') {
        const { failure, detail } = result;
        if (OWN_FAILURES.has(failure)) return { kind: 'failed', failure, detail };
        onFailure(parent.edge, detail);
        if (CROWDED.has(failure)) return askFrom(asked.length, asked, fetch, what);
        const slowSite = failure === 'originTimeout' ? fetch.site.id : undefined;
        if (PARENT_FAULTS.has(failure)) health.noteFailure(parent.edge, clock(), slowSite);
      } else {
        const { status } = result.response;
        discardBody(result.response);
        if (PARENT_FAULTS.has(status)) health.noteFailure(parent.edge, clock());
        onFailure(parent.edge, `answered ${status}`);
      }
      return askFrom(index + 1, asked, fetch, what);
    });
  };

  const askParent = ({ edge, destination }: Parent, fetch: Fetch, { hops, absentUpTo }: Cacheable) => {
    const { site, scheme, clientAddress } = fetch;
    const askedAt = clock();
    const newerMs = Math.max(0, askedAt - absentUpTo());
    const tier = formatTier({
      from: tiers.edgeId,
      hops: hops + 1,
      siteId: site.id,
      newerThanMs: newerMs < MAX_NEWER_MS ? newerMs : undefined,
      scheme,
      client: clientAddress,
    });
    const address = { key: edge, destination, hostHeader: fetch.host };
    const headers = [...fetch.headers, TIER_FIELD, tier];
    const asked = askOrigin(address, { ...fetch, headers }, tools, (detail) => onFailure(edge, detail));
    return after(asked, (result) => ({ result, askedAt }));
  };

  const usesParents = ({ type }: Site) => type !== 'live' && type !== 'dynamic' && tiers.parents().length > 0;
  const parentsOf = (site: Site, key: string) => {
    const now = clock();
    const parents = usesParents(site) ? rankParents(tiers.parents(), key).slice(0, MAX_PARENTS) : [];
    return parents.map((parent) => ({ ...parent, isOut: health.isOut(parent.edge, now) }));
  };
  return {
    usesParents,
    parentsOf,
    fetch: (fetch) => {
      const { cacheable, site } = fetch;
      if (cacheable === undefined || cacheable.hops >= MAX_HOPS || !usesParents(site)) return origins.fetch(fetch);
      const usable = parentsOf(site, cacheable.key).filter(({ isOut }) => !isOut);
      return askFrom(0, usable, fetch, cacheable);
    },
  };
}

/**
 * Returns `undefined` for an answer that says nothing of its lifetime: the parent itself could not answer. A purge that
 * came after `askedAt` is not in the request, even if that was sent later.
 */
function readAnswer(response: OriginResponse, askedAt: number): OriginResponse | undefined {
  const told = parseFresh(firstValue(response.headers, 'causeway-fresh') ?? '');
  return told && { ...response, headers: withoutFields(response.headers, FRESH), requestAt: askedAt, told };
}
