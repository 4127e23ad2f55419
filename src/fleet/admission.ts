/** Decides what a connection with a client certificate may do. docs/decisions/0583 */
import type { EdgeCertificate } from '#db/tables/fleet/edge-certificates.ts';
import type { EnrolledEdge } from '#db/tables/fleet/enrolled-edges.ts';
import type { Peer } from '#feed/publish/peer.ts';
import type { PresentedLeaf } from './authority.ts';

/** Grace for connections that an edge opened just before it took its new certificate. */
export const REPLACED_GRACE_MS = 60_000;

/** `clone`: two machines have the identity. */
type RefusedWord = 'unknown' | 'revoked' | 'expired' | 'clone';

export type Admission =
  /** No certificate: only enrolment. */
  | { readonly kind: 'anonymous' }
  /** A certificate of another authority, or not for an edge. */
  | { readonly kind: 'untrusted' }
  /**
   * `isNew`: the certificate is seen for the first time, so it replaces the others of the edge. `machine`: the machine
   * that was enrolled; empty if unknown.
   */
  | { readonly kind: 'peer'; readonly peer: Peer; readonly isNew: boolean; readonly machine: string }
  /** The certificate has expired a short time ago: only renewal. */
  | { readonly kind: 'renewOnly'; readonly peer: Peer }
  | { readonly kind: 'refused'; readonly word: RefusedWord; readonly edge: string };

interface Known {
  readonly edge: EnrolledEdge | undefined;
  readonly now: number;
}

interface KnownLeaf extends Known {
  readonly certificate: EdgeCertificate | undefined;
  /** Time after its end in which a certificate may be renewed. */
  readonly graceMs: number;
}

/** Judges a leaf of the fleet's authority, whose signature has been verified. */
export function judgeLeaf(leaf: PresentedLeaf, { certificate, edge, now, graceMs }: KnownLeaf): Admission {
  const refuse = (word: RefusedWord): Admission => ({ kind: 'refused', word, edge: leaf.edge });
  if (certificate === undefined || edge?.kind !== 'edge' || certificate.edge !== leaf.edge) return refuse('unknown');
  if (edge.revokedAt !== undefined || certificate.state === 'revoked') return refuse('revoked');
  const { state, replacedAt = 0 } = certificate;
  if (state === 'replaced' && Math.abs(now - replacedAt) > REPLACED_GRACE_MS) return refuse('clone');
  const peer = peerOf(leaf, edge);
  if (now < leaf.notAfter) return { kind: 'peer', peer, isNew: state === 'new', machine: edge.machine };
  return now - leaf.notAfter < graceMs ? { kind: 'renewOnly', peer } : refuse('expired');
}

/** Judges a leaf of the operator's own authority, which TLS has verified. It is renewed by the operator. */
export function judgeOwnLeaf(leaf: PresentedLeaf, { edge, now }: Known): Admission {
  const refuse = (word: RefusedWord): Admission => ({ kind: 'refused', word, edge: leaf.edge });
  if (edge?.kind !== 'edge') return refuse('unknown');
  if (edge.revokedAt !== undefined) return refuse('revoked');
  if (now >= leaf.notAfter) return refuse('expired');
  return { kind: 'peer', peer: peerOf(leaf, edge), isNew: false, machine: edge.machine };
}

function peerOf({ edge, serial }: PresentedLeaf, { group }: EnrolledEdge): Peer {
  return { kind: 'edge', edge, serial, group };
}
