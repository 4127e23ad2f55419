/** The place of this edge among the tiers: which parents it has, and which edges may ask it. */
import type { X509Certificate } from 'node:crypto';
import { isIP } from 'node:net';
import type { NamedTier, TierSource } from '#sites/tier-source.ts';
import type { Destination } from '../connector.ts';

export interface Parent extends Pick<NamedTier, 'edge'> {
  /** Where it listens; the server name is the id of the edge. */
  readonly destination: Destination;
}

/** The identity of this edge between the tiers. */
export interface TierIdentity {
  /**
   * Returns PEM texts for TLS; `serials` are those of its certificates that other edges know by now. Throws if there is
   * no identity.
   */
  tls(serials: readonly string[]): { readonly cert: string; readonly key: string; readonly ca: readonly string[] };
  /** Returns which edge a certificate is for; `undefined` if it is not for one of this fleet. */
  readLeaf(certificate: X509Certificate): { readonly edge: string; readonly serial: string } | undefined;
}

export interface TiersOptions {
  readonly edgeId: string;
  readonly source: TierSource;
  readonly identity: TierIdentity;
}

export class Tiers {
  readonly edgeId: string;
  readonly #options: TiersOptions;
  #parents: readonly Parent[] = [];
  #isStale = true;

  constructor(options: TiersOptions) {
    this.edgeId = options.edgeId;
    this.#options = options;
  }

  /** Must be called when settings have changed. */
  reread(): void {
    this.#isStale = true;
  }

  /** Lists the edges that this one may fetch through; none: it fetches from origins. */
  parents(): readonly Parent[] {
    if (!this.#isStale) return this.#parents;
    try {
      this.#parents = this.#readParents();
      this.#isStale = false;
    } catch {
      // The settings cannot be read for now: the former ones are used.
    }
    return this.#parents;
  }

  /** Lists the place of every edge. */
  list(): readonly NamedTier[] {
    return this.#options.source.listTiers();
  }

  #readParents(): readonly Parent[] {
    const { source, edgeId } = this.#options;
    const parent = source.getTier(edgeId)?.parent;
    if (parent === undefined) return [];
    return source.listTiers().flatMap(({ edge, group, address }) => {
      if (group !== parent || address === undefined || edge === edgeId) return [];
      const colon = address.lastIndexOf(':');
      const host = address.slice(0, colon).replace(/^\[|\]$/g, '');
      const port = Number(address.slice(colon + 1));
      return [{ edge, destination: { host, port, isAddress: isIP(host) !== 0, serverName: edge } }];
    });
  }

  /** Returns the keys that this edge presents to others. */
  tls(): ReturnType<TierIdentity['tls']> {
    const { source, identity, edgeId } = this.#options;
    return identity.tls(source.getTier(edgeId)?.serials ?? []);
  }

  /** Returns the id of the edge that presents this certificate; `undefined` unless its group is right below this one's. */
  childOf(certificate: X509Certificate): string | undefined {
    const edge = this.#known(certificate);
    return edge !== undefined && this.isChild(edge) ? edge : undefined;
  }

  /** Whether the group of an edge is right below this one's. */
  isChild(edge: string): boolean {
    const { source, edgeId } = this.#options;
    const parent = source.getTier(edge)?.parent;
    return parent !== undefined && parent === source.getTier(edgeId)?.group;
  }

  /** Whether the certificate is that of a parent. */
  isOf(certificate: X509Certificate, parent: string): boolean {
    return this.#known(certificate) === parent;
  }

  /** Returns the edge of a certificate that the feed names. */
  #known(certificate: X509Certificate): string | undefined {
    const { source, identity } = this.#options;
    const leaf = identity.readLeaf(certificate);
    const tier = leaf && source.getTier(leaf.edge);
    if (leaf === undefined || tier === undefined) return undefined;
    return tier.serials.length === 0 || tier.serials.includes(leaf.serial) ? leaf.edge : undefined;
  }
}
