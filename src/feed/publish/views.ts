/**
 * The view of an edge on another machine: the resources that its group needs, and none of other customers' secrets.
 * docs/decisions/0592
 */
import type { Executor } from '#db/schema/schema.ts';
import { findListDomains } from '#db/tables/address-lists.ts';
import { CERTIFICATE_KIND } from '#db/tables/certificates.ts';
import { findCertificateDomains, findDomainIds } from '#db/tables/domain-resources.ts';
import { listGroups, readMemberships } from '#db/tables/edge-groups.ts';
import type { ResourceRow } from '#db/tables/resources.ts';
import { ADDRESS_LIST_KIND, parseAddressListKey } from '#model/address-list.ts';
import { CHALLENGE_KIND } from '#model/challenge.ts';
import { relationOf } from '#model/edge-group.ts';
import { PLACE_KIND } from '#model/edge-place.ts';
import { LIVE_KEYS_KIND, LIVE_MARK_KIND } from '#model/live-stream.ts';
import { SERVING_KIND } from '#model/serving-groups.ts';
import { candidateNames } from '#sites/lookup.ts';
import type { PrefetchSpec } from '#sites/prefetch.ts';
import type { SiteSpec } from '#sites/spec.ts';

export interface View {
  readonly group: string;
  /** Changes if the set of the group's domains has changed as a whole. */
  readonly id: string;
}

/** Returns the view of each group. A group that does not exist serves no domain. */
export async function readViews(x: Executor): Promise<(group: string) => View> {
  const versions = new Map((await listGroups(x)).map(({ name, version }) => [name, version]));
  return (group) => ({ group, id: `${group}.${versions.get(group) ?? 0}` });
}

/** `delete`: the group must not have it, but may have it from before. */
export type Visibility = 'whole' | 'delete' | 'none';

/** Returns how edges of a group see each of these rows. */
export async function readVisibility(
  x: Executor,
  rows: readonly ResourceRow[],
): Promise<(row: ResourceRow, group: string) => Visibility> {
  const owners = new Map(rows.map((row) => [row, ownerOf(row)]));
  const all = [...owners.values()];
  const byName = await findDomainIds(
    x,
    all.flatMap((owner) => (owner.kind === 'names' ? owner.names : [])),
  );
  const byCertificate = await findCertificateDomains(
    x,
    all.flatMap((owner) => (owner.kind === 'certificate' ? [owner.key] : [])),
  );
  const byList = await findListDomains(
    x,
    all.flatMap((owner) => (owner.kind === 'addressList' ? [parseAddressListKey(owner.key)] : [])),
  );
  const idsOf = (owner: Owner): readonly number[] => {
    if (owner.kind === 'domain') return [owner.id];
    if (owner.kind === 'names') return owner.names.map((name) => byName.get(name) ?? []).find(isNotEmpty) ?? [];
    if (owner.kind === 'addressList') return byList.get(owner.key) ?? [];
    return owner.kind === 'certificate' ? (byCertificate.get(owner.key) ?? []) : [];
  };
  const { defaults, ofDomain } = await readMemberships(x, all.flatMap(idsOf));
  return (row, group) => {
    const owner = owners.get(row) ?? ownerOf(row);
    if (owner.kind === 'everyone') return 'whole';
    if (owner.kind === 'nameServers') return 'none';
    const domains = idsOf(owner).map((id) => relationOf(ofDomain.get(id), defaults, group));
    if (domains.includes('serves')) return 'whole';
    if (row.isDeleted) return domains.length === 0 || domains.includes('left') ? 'whole' : 'none';
    // The key of a certificate is random, so its deletion reveals nothing about its owner. That of a list is its name.
    return owner.kind === 'certificate' || owner.kind === 'addressList' || domains.includes('left') ? 'delete' : 'none';
  };
}

function isNotEmpty(list: readonly number[]): boolean {
  return list.length > 0;
}

type Owner =
  | { readonly kind: 'everyone' }
  /** Name servers, which have everything. */
  | { readonly kind: 'nameServers' }
  | { readonly kind: 'domain'; readonly id: number }
  /** The first of these names that a domain has or had. */
  | { readonly kind: 'names'; readonly names: readonly string[] }
  | { readonly kind: 'certificate' | 'addressList'; readonly key: string };

/** Resources of an unknown kind are for every edge: a kind that belongs to a domain must be named here. */
function ownerOf({ kind, key, isDeleted, body }: ResourceRow): Owner {
  switch (kind) {
    case 'site': {
      if (isDeleted) return { kind: 'names', names: [key] };
      // `as`, here and below: written by control only.
      return { kind: 'domain', id: (JSON.parse(body) as SiteSpec).id };
    }
    case CERTIFICATE_KIND:
      return { kind: 'certificate', key };
    case ADDRESS_LIST_KIND:
      return { kind: 'addressList', key };
    case 'purge':
      return { kind: 'domain', id: Number(key.split(':')[0]) };
    case 'prefetch': {
      if (isDeleted) return { kind: 'everyone' }; // its key has numbers only
      const { siteId, host } = JSON.parse(body) as PrefetchSpec;
      return siteId === undefined ? { kind: 'names', names: candidateNames(host) } : { kind: 'domain', id: siteId };
    }
    case PLACE_KIND:
    case SERVING_KIND:
      return { kind: 'nameServers' };
    case CHALLENGE_KIND:
      return { kind: 'names', names: candidateNames(key.split('/')[0] ?? '') };
    case LIVE_MARK_KIND:
    case LIVE_KEYS_KIND:
      return { kind: 'domain', id: Number(key.split('/')[0]) };
    default:
      return { kind: 'everyone' };
  }
}
