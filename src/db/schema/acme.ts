/** Tables for certificates that the service obtains. */

export interface AcmeTables {
  /** The service's account at an authority. */
  acme_account: {
    /** URL of the authority's directory. */
    directory: string;
    /** PKCS #8 PEM, sealed for this row; empty after an export left it out. */
    private_key: string;
    /** URL of the account; empty until the authority has created it. */
    url: string;
    created_at: number;
  };
  /** A `CertificateOrder`, and the process that works on it. */
  certificate_order: {
    domain_id: number;
    state: string;
    /** Empty if there is none. */
    problem: string;
    detail: string;
    ssl_key: string;
    issued_key: string;
    url: string;
    /** Key of the feed's resource; empty if there is none. */
    challenge_key: string;
    challenge_revision: number;
    challenge_told_at: number;
    /** Sealed for this row. */
    private_key: string;
    failures: number;
    day_began_at: number;
    day_orders: number;
    requested_at: number;
    ordered_at: number;
    due_at: number;
    /** 0: never. */
    renew_at: number;
    /** Renewal window suggested by the authority; both 0 without one. */
    renew_from: number;
    renew_to: number;
    /** Time of the last change, by the clock of the process that made it. */
    written_at: number;
    /** Names the process. */
    lease_owner: string;
    lease_until: number;
  };
}
