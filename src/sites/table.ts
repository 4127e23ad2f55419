/**
 * Host to site. Sites are compiled when first asked for and kept in a bounded LRU; the specs stay where the source keeps
 * them (an edge's own file), so 100,000 domains cost no memory until they are used.
 */
import type { SitePurge } from './purge.ts';
import type { Site } from './site.ts';
import type { SiteSpec } from './spec.ts';

/** Where specs are read from, by exact name (`*.example.com` is a name). Synchronous: a local file's index. */
export interface SiteSource {
  getSpec(name: string): { readonly spec: SiteSpec; readonly revision: number } | undefined;
  /** Every purge of the site that this edge has applied. */
  purgesOf(siteId: number): readonly SitePurge[];
  /** What a site's `tls.certificate` names; `undefined`: it is not here. */
  getCertificate(key: string): CertificatePair | undefined;
  /** Keys of a site's signed URLs; empty: there are none. */
  urlKeysOf(siteId: number): readonly string[];
  /** Addresses and networks of a list that sites share, by its key; `undefined`: it is not here. */
  getAddressList(key: string): readonly string[] | undefined;
}

/** PEM texts. */
export interface CertificatePair {
  /** The chain, leaf first. */
  readonly certificate: string;
  readonly key: string;
}

export interface SiteTable {
  /** Exact name, else the longest `*.suffix`. `host` is lower-case ASCII without port or trailing dot. */
  find(host: string): Site | undefined;
  /**
   * Compiles other settings of a site, with the shared lists, keys and purges that it has, and keeps nothing of it.
   * `undefined`: they do not compile.
   */
  compileLike(spec: SiteSpec, present: Site): Site | undefined;
  /** Raised whenever something is forgotten: while it is the same, a host has the site that it had. */
  readonly changes: number;
  /**
   * Forgets what was compiled for these names of sites, and for all sites that use a list with one of these keys; the
   * next request reads them anew. `undefined`: forgets everything.
   */
  forget(names: readonly string[] | undefined): void;
}
