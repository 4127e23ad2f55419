/** Groups of edges, the domains that they serve, and the keys under which secrets travel to them. */

export interface GroupTables {
  edge_group: {
    name: string;
    /** 0 or 1: whether it serves domains without groups of their own. */
    is_default: number;
    /** Raised when the set of its domains changes as a whole: its edges take a snapshot then. */
    version: number;
    created_at: number;
    /** Group that its edges fetch through; `null`: they fetch from origins. */
    parent: string | null;
  };
  domain_group: {
    domain_id: number;
    group_name: string;
    /** `null` while the group serves the domain; afterwards kept for as long as deletions are. */
    left_at: number | null;
  };
  view_key: {
    /** `<group>.<n>` */
    id: string;
    group_name: string;
    /** Counts up for each group. */
    n: number;
    /** 32 random bytes, sealed for `view_key`; empty if an export left it out. */
    secret: string;
    /** End of its use for what is sent. */
    expires_at: number;
  };
}
