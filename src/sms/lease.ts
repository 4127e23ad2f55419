/** How long claimed parts belong to a process that does not renew their lease. */
export const LEASE_MS = 6_000;
/** Age at which a lease is renewed. */
export const RENEW_AFTER_MS = 2_000;
