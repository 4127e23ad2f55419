/** How long claimed parts belong to a process that does not renew their lease. */
export const LEASE_MS = 6_000;
