/** The service's account at the authority. Its key is created once, and registered when it is first needed. */
import type { Db } from '#db/open.ts';
import type { Keyring } from '#db/secrets/keyring.ts';
import { loadOrMakeAcmeAccount, saveAcmeAccountUrl } from '#db/tables/acme-accounts.ts';
import type { Clock } from '#lib/clock.ts';
import { AcmeProblem } from './acme-problem.ts';
import type { AcmeAuthority, SigningAccount } from './authority.ts';
import { createSigner, makeKey, type Signer } from './jws.ts';

export interface AccountOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly authority: Pick<AcmeAuthority, 'register'>;
  /** The authority's address. */
  readonly directory: string;
  /** Address to which the authority sends warnings. */
  readonly email: string | undefined;
  readonly clock: Clock;
  /** Monotonic. */
  readonly steadyClock: Clock;
}

/** Thrown if the authority refuses the account: not the fault of an order, and something for an operator to mend. */
export class AccountRefused extends Error {}

export interface AccountHolder {
  /** Rejects with `AccountRefused` or `Unreachable`. */
  get(signal: AbortSignal): Promise<SigningAccount>;
  /** Called when the authority does not know the account: its key is registered again when it is next needed. */
  forget(): Promise<void>;
}

/** Shortest time between two registrations after a refusal. */
export const ACCOUNT_RETRY_MS = 300_000;

/** Problem types that do not mean that the account is refused. */
const PASSING = ['badNonce', 'rateLimited'];

export function createAccountHolder(options: AccountOptions): AccountHolder {
  const { db, ring, authority, directory, email, clock, steadyClock } = options;
  let held: SigningAccount | undefined;
  let refused: { readonly error: AccountRefused; readonly until: number } | undefined;
  const register = async (signer: Signer, signal: AbortSignal): Promise<string> => {
    if (refused !== undefined && steadyClock() < refused.until) throw refused.error;
    try {
      return await authority.register(signer, email, signal);
    } catch (error) {
      if (!(error instanceof AcmeProblem) || PASSING.includes(error.type)) throw error;
      refused = {
        error: new AccountRefused(describe(error), { cause: error }),
        until: steadyClock() + ACCOUNT_RETRY_MS,
      };
      throw refused.error;
    }
  };
  return {
    async get(signal) {
      if (held !== undefined) return held;
      const made = { directory, makeKey, now: clock() };
      const stored = await db.transaction((trx) => loadOrMakeAcmeAccount(trx, ring, made));
      const signer = createSigner(stored.key);
      if (stored.url !== '') {
        held = { signer, url: stored.url };
        return held;
      }
      const url = await register(signer, signal);
      await saveAcmeAccountUrl(db.query, directory, url);
      held = { signer, url };
      return held;
    },
    async forget() {
      held = undefined;
      await saveAcmeAccountUrl(db.query, directory, '');
    },
  };
}

function describe({ type, message }: AcmeProblem): string {
  if (type !== 'externalAccountRequired') return `the account is refused: ${message}`;
  return `the account is refused: ${message}; the operator has to set acme-eab-key-id and acme-eab-mac-key`;
}
