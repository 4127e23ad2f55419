/** People, and the sessions of browsers. docs/decisions/0662 */
import type { Generated } from 'kysely';

export interface PeopleTables {
  person: {
    id: Generated<number>;
    /** The address in lower case. */
    email: string;
    name: string;
    locale: string;
    time_zone: string;
    density: string;
    /** JSON: `PersonSecrets`, sealed; empty if there are none. */
    secrets: string;
    created_at: number;
    disabled_at: number | null;
    /** `null`: no password. An import without secrets leaves the time, and no password fits. */
    password_at: number | null;
    totp_at: number | null;
    totp_step: number;
    /** The identity provider and its name for the person; `null`: not linked. */
    identity: string | null;
    identity_at: number | null;
  };
  membership: {
    person_id: number;
    account_id: number;
    /** A `Role`. */
    role: string;
    /** The inviter: `person:3`, `token:7`. */
    invited_by: string;
    created_at: number;
  };
  passkey: {
    id: Generated<number>;
    person_id: number;
    /** Id of the credential, base64url. */
    credential: string;
    /** COSE key, base64url. */
    public_key: string;
    counter: number;
    /** JSON: a list of texts. */
    transports: string;
    label: string;
    created_at: number;
    used_at: number | null;
  };
  recovery_code: {
    person_id: number;
    /** SHA-256, hex. A used one is deleted. */
    hash: string;
  };
  /** Challenges of passkeys that were answered: none is answered twice. */
  used_challenge: {
    hash: string;
    expires_at: number;
  };
  /** Links that are good once: to become a member, or to set a new password. An accepted one is deleted. */
  invitation: {
    id: Generated<number>;
    /** SHA-256 of the secret in the link, hex. */
    hash: string;
    /** The account to become a member of; `null`: a link for a new password. */
    account_id: number | null;
    /** The person who gets a new password; `null`: an invitation. */
    person_id: number | null;
    email: string;
    /** A `Role`; empty without an account. */
    role: string;
    /** 0 or 1: second factors are removed with the password. */
    clears: number;
    invited_by: string;
    created_at: number;
    expires_at: number;
  };
  /** Wrong tries to sign in. */
  sign_in_try: {
    /** Hash of what was tried, and of the network it came from. */
    key: string;
    failures: number;
    last_at: number;
  };
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
