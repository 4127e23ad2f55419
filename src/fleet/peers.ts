/** Looks up edges' certificates in the database. An answer is at most a second old. */
import type { X509Certificate } from 'node:crypto';
import type { Db } from '#db/open.ts';
import { type EdgeCertificate, findEdgeCertificates, makeCurrent } from '#db/tables/fleet/edge-certificates.ts';
import { type EnrolledEdge, findEnrolledEdges } from '#db/tables/fleet/enrolled-edges.ts';
import type { Clock } from '#lib/clock.ts';
import { Lru } from '#lib/lru.ts';
import { SharedLookUps } from '#lib/shared-look-ups.ts';
import { type Admission, judgeLeaf, judgeOwnLeaf } from './admission.ts';
import { isIssuedBy, type PresentedLeaf, readEdgeLeaf, readOwnLeaf } from './authority.ts';
import type { Trust } from './trust.ts';

const CACHE_MS = 1000;
const MAX_CACHED = 20_000;

/** A leaf issued by a trusted authority. */
export interface VerifiedLeaf extends PresentedLeaf {
  /** Issued by the operator's own authority. */
  readonly isOwn: boolean;
}

/**
 * Verifies a certificate that was presented; `undefined` if it is not of an authority of the fleet, or not for an edge.
 * `isAuthorized`: TLS has verified its chain and its dates, which is what counts for the operator's own authority.
 */
export function verifyLeaf(trust: Trust, leaf: X509Certificate, isAuthorized: boolean): VerifiedLeaf | undefined {
  const isOwn = trust.authorities.length === 0;
  const isTrusted = isOwn ? isAuthorized : trust.authorities.some((authority) => isIssuedBy(leaf, authority));
  const read = isOwn ? readOwnLeaf(trust.fleet, leaf) : readEdgeLeaf(trust.fleet, leaf);
  return isTrusted && read !== undefined ? { ...read, isOwn } : undefined;
}

export interface Peers {
  /** Judges a connection. A certificate that is seen for the first time becomes the edge's current one. */
  admit(leaf: VerifiedLeaf): Promise<Admission>;
  /** Forgets all answers. */
  forget(): void;
}

export interface PeersOptions {
  readonly db: Db;
  readonly clock: Clock;
  /** Monotonic, for the age of answers. */
  readonly steadyClock: Clock;
  readonly graceMs: number;
}

export function createPeers({ db, clock, steadyClock, graceMs }: PeersOptions): Peers {
  const cache = new Lru<string, { readonly found: Promise<Found>; readonly at: number }>({ maxWeight: MAX_CACHED });
  const lookUps = new SharedLookUps<string, Found>((take) => lookUp(db, take()));

  const find = (leaf: VerifiedLeaf): Promise<Found> => {
    const key = `${leaf.serial} ${leaf.edge}`;
    const cached = cache.get(key);
    if (cached !== undefined && steadyClock() - cached.at < CACHE_MS) return cached.found;
    const found = lookUps.get(key).then((answer = {}) => answer);
    cache.set(key, { found, at: steadyClock() });
    found.catch(() => cache.delete(key)); // the caller gets the error
    return found;
  };

  return {
    async admit(leaf) {
      const { certificate, edge } = await find(leaf);
      const now = clock();
      if (leaf.isOwn) return judgeOwnLeaf(leaf, { edge, now });
      const admission = judgeLeaf(leaf, { certificate, edge, now, graceMs });
      if (admission.kind === 'peer' && admission.isNew && certificate !== undefined) {
        await db.transaction((trx) => makeCurrent(trx, certificate, { from: ['new'], now }));
        cache.clear();
      }
      return admission;
    },
    forget: () => cache.clear(),
  };
}

interface Found {
  readonly certificate?: EdgeCertificate | undefined;
  readonly edge?: EnrolledEdge | undefined;
}

/** `keys`: a serial, a space, and an edge's id. */
async function lookUp(db: Db, keys: readonly string[]): Promise<ReadonlyMap<string, Found>> {
  const pairs = keys.map((key) => key.split(' ') as [serial: string, edge: string]); // made in `find`
  const serials = pairs.map(([serial]) => serial);
  const certificates = new Map((await findEdgeCertificates(db.query, serials)).map((one) => [one.serial, one]));
  const ids = [...new Set(pairs.map(([, edge]) => edge))];
  const edges = new Map((await findEnrolledEdges(db.query, ids)).map((one) => [one.edge, one]));
  return new Map(
    pairs.map(([serial, edge]) => [
      `${serial} ${edge}`,
      { certificate: certificates.get(serial), edge: edges.get(edge) },
    ]),
  );
}
