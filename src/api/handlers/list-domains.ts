/** A page of domains, as customers see their own and operators everybody's. */
import type { Db } from '#db/open.ts';
import type { DomainFilter, DomainStatus } from '#db/tables/domain-filter.ts';
import { listDomains } from '#db/tables/domains.ts';
import { listGroups, readServing } from '#db/tables/edge-groups.ts';
import { listLiveEdges } from '#db/tables/edges.ts';
import { type InForce, isInForce, summarizeAcknowledgements } from '#model/acknowledgement.ts';
import type { Domain } from '#model/domain.ts';
import { edgesOf, groupsBelow, type Serving } from '#model/edge-group.ts';
import { holdingEdges } from '#model/edge-state.ts';
import type { DomainView } from '../wire/wire-domain.ts';

/** Which stored states, and which half of `open`, a code of the wire stands for. */
const STATUSES_OF_CODE: Readonly<Record<'0' | '1' | '2' | '5' | '6', readonly DomainStatus[]>> = {
  '0': ['closed'],
  '1': ['pending', 'configuring'],
  '2': ['accelerating'],
  '5': ['rejected'],
  '6': ['disabled'],
};

export type StatusCode = keyof typeof STATUSES_OF_CODE;

const ONLY_PENDING: readonly DomainStatus[] = ['pending'];

interface PageFilter extends Omit<DomainFilter, 'statuses' | 'inForce'> {
  readonly statusCode: StatusCode | undefined;
  /** Only those that wait for review. */
  readonly isPending?: boolean;
}

export async function listDomainViews(
  db: Db,
  now: number,
  { statusCode, isPending = false, ...filter }: PageFilter,
): Promise<{ readonly total: number; readonly views: readonly DomainView[] }> {
  const acknowledged = await readAcknowledged(db, now);
  const ofCode = statusCode && STATUSES_OF_CODE[statusCode];
  const statuses = isPending ? (ofCode ?? ONLY_PENDING).filter((status) => status === 'pending') : ofCode;
  const { total, domains } = await listDomains(db.query, { ...filter, statuses, inForce: acknowledged.inForce });
  return { total, views: await acknowledged.viewsOf(domains) };
}

/** The stored states that any of these codes stands for. */
export function statusesOf(codes: readonly StatusCode[]): readonly DomainStatus[] {
  return codes.flatMap((code) => STATUSES_OF_CODE[code]);
}

interface Acknowledged {
  readonly inForce: InForce;
  viewsOf(domains: readonly Domain[]): Promise<readonly DomainView[]>;
}

/** Reads the acknowledgements of the live edges, as lists of domains need them. */
export async function readAcknowledged(db: Db, now: number): Promise<Acknowledged> {
  const liveEdges = await listLiveEdges(db.query, now);
  const isGrouped = liveEdges.some(({ group }) => group !== undefined);
  const defaults = isGrouped ? (await readServing(db.query, [])).defaults : undefined;
  const groups = isGrouped ? await listGroups(db.query) : [];
  // An edge that others fetch through counts for their groups too.
  const counted = liveEdges.flatMap((edge) =>
    edge.group === undefined ? [edge] : groupsBelow(groups, edge.group).map((group) => ({ ...edge, group })),
  );
  return {
    inForce: summarizeAcknowledgements(counted, defaults),
    viewsOf: async (domains) => {
      const ids = domains.map(({ id }) => id);
      const serving = isGrouped ? await readServing(db.query, ids) : NO_GROUPS;
      return domains.map((domain) => {
        return { domain, isInForce: isInForce(domain, holdingEdges(edgesOf(serving, domain.id, liveEdges))) };
      });
    },
  };
}

/** Edges of control's machine serve every domain. */
const NO_GROUPS: Serving = { defaults: new Set(), ofDomain: new Map() };
