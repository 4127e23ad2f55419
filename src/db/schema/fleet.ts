/** The fleet's authority, and the identities of edges on other machines. */
import type { Generated } from 'kysely';

export interface FleetTables {
  /** One row. */
  fleet: {
    id: number;
    /** 8 hex digits; created with the database. */
    name: string;
    /** Number of changes that every control must notice at once: revocations, new authorities. */
    changes: number;
  };
  /** One row, or two while the authority is being changed: the older one is in use, the newer one takes over. */
  fleet_authority: {
    /** Subject key identifier, hex. */
    key: string;
    /** PEM. */
    certificate: string;
    /** Sealed PKCS #8 PEM; empty if an export left it out. */
    private_key: string;
    made_at: number;
  };
  edge_token: {
    id: Generated<number>;
    /** SHA-256 of the token's secret, hex. */
    hash: string;
    /** Key of the authority that the token pins. */
    authority: string;
    /** `null`: control chooses the id, or the machine that enrols. */
    edge: string | null;
    /** 0 or 1: whether it may enrol an edge that is enrolled already. */
    replaces: number;
    group_name: string;
    /** JSON: an object of texts. */
    labels: string;
    /** JSON: list of networks; `null` if the token may be used from any address. */
    addresses: string | null;
    uses: number;
    used: Generated<number>;
    created_at: number;
    expires_at: number;
    revoked_at: number | null;
  };
  edge_certificate: {
    /** Hex. */
    serial: string;
    edge: string;
    /** Key of the authority that issued it. */
    authority: string;
    /** SHA-256 of its public key, hex. */
    public_key: string;
    /** PEM. */
    certificate: string;
    /** The token it was enrolled with; `null` for a renewal. */
    token_id: number | null;
    /** An `EdgeCertificateState`. */
    state: string;
    made_at: number;
    not_after: number;
    replaced_at: number | null;
  };
}
