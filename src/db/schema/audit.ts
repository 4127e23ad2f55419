/** The audit trail, and the revisions of domains. docs/decisions/0623, 0624 */
import type { Generated } from 'kysely';

export interface AuditTables {
  /** Written in the transaction of the change, and never changed. */
  audit_event: {
    id: Generated<number>;
    at: number;
    /** Owner of the target; `null`: the service's operators. */
    account_id: number | null;
    /** An `AuditActor`'s kind. */
    actor: string;
    actor_name: string;
    /** Account of the token. */
    actor_account_id: number | null;
    token_id: number | null;
    /** The person who is signed in, and the session. */
    person_id: number | null;
    session_id: string | null;
    address: string;
    operation: string;
    target_kind: string;
    target_id: string;
    target_name: string;
    /** JSON: an object with the members that differ. */
    before: string;
    after: string;
    revision: number | null;
    request_id: string;
  };
  domain_revision: {
    domain_id: number;
    /** A `setting_revision` of the domain. */
    revision: number;
    made_at: number;
    /** JSON, as in `domain`. */
    settings: string;
  };
}
