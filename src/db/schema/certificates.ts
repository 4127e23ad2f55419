/** Tables of certificates. */

export interface CertificateTables {
  certificate: {
    /** The identifier on the wire, `ssl_key`. */
    key: string;
    account_id: number;
    title: string;
    /** SHA-256 of the chain, which determines the private key. An account has each chain once. */
    fingerprint: string;
    /** PEM, leaf first. */
    chain: string;
    /** PKCS #8 PEM, sealed for this row; empty after an export left it out. */
    private_key: string;
    issuer: string;
    /** JSON: list of names. */
    names: string;
    /** A `KeyKind`. */
    key_kind: string;
    valid_from: number;
    valid_to: number;
    created_at: number;
  };
  /** Certificates of each domain; one or two. */
  certificate_use: {
    domain_id: number;
    certificate_key: string;
  };
}
