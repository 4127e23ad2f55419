/** How long a part that is on its way stays its process's without a word from that; it renews its leases while it lives. */
export const LEASE_MS = 6_000;
