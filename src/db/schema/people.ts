/** People, and the sessions of browsers. docs/decisions/0662 */
import type { Generated } from 'kysely';

export interface PeopleTables {
  session: {
    id: Generated<number>;
    /** SHA-256 of the secret in the cookie, hex. */
    hash: string;
    /** One of the two is there. */
    person_id: number | null;
    token_id: number | null;
    /** The account in view. */
    account_id: number | null;
    /** A `SignInMethod`. */
    method: string;
    /** 0 or 1: a second factor is awaited. */
    pending: number;
    /** 0 or 1: "keep me signed in". */
    kept: number;
    created_at: number;
    /** Written once a minute at most. */
    seen_at: number;
    expires_at: number;
    strong_at: number | null;
    /** The customer's account that an operator looks at, until when, and why. */
    look_account_id: number | null;
    look_until: number | null;
    look_reason: string;
    address: string;
    user_agent: string;
  };
}
