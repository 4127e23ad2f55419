/** Edges on other machines as control knows them: their identities, and the tokens that they enrol with. */

/**
 * `new`: issued, and not seen on a connection yet. `current`: the edge connects with it. `replaced`: a newer one has been
 * seen. `revoked`: refused.
 */
export type EdgeCertificateState = 'new' | 'current' | 'replaced' | 'revoked';

/** Labels of an edge, for people and metrics. */
export type EdgeLabels = Readonly<Record<string, string>>;

/** What a machine knows of itself as an edge. */
export interface IdentityView {
  /** Empty if the certificate, of the operator's own authority, names no edge. */
  readonly edge: string;
  /** Empty with a certificate of the operator's own authority, and so is the group. */
  readonly fleet: string;
  readonly group: string;
  /** Serial number of the certificate, hex. */
  readonly serial: string;
  readonly notAfter: number;
  /** When the edge renews it; `undefined` if the operator does. */
  readonly renewAfter: number | undefined;
  /** `https://host:port` of each control. */
  readonly controls: readonly string[];
  /** Whether the identity was made for another machine or data directory. */
  readonly isCopy: boolean;
}

/** A token with which machines become edges. The secret itself is not stored. */
export interface EdgeToken {
  readonly id: number;
  /** Key of the authority that it pins. */
  readonly authority: string;
  /** The only id that it enrols; `undefined`: any. */
  readonly edge: string | undefined;
  /** Whether it may enrol an edge that is enrolled already, whose certificates are then revoked. */
  readonly replaces: boolean;
  readonly group: string;
  readonly labels: EdgeLabels;
  /** Networks that it may be used from; `undefined`: any address. */
  readonly addresses: readonly string[] | undefined;
  readonly uses: number;
  readonly used: number;
  readonly createdAt: number;
  readonly expiresAt: number;
  readonly revokedAt: number | undefined;
}

/** Id of the fleet. */
export const FLEET_ID = /^[0-9a-f]{8}$/;
/** Id of an edge. */
export const EDGE_ID = /^[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?$/;
/** Group of edges that no other was chosen for. */
export const DEFAULT_GROUP = 'default';
export const MAX_LABELS = 16;
