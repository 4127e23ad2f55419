/** The service's account at the authority: its key is made once, and registered when it is first needed. */

import { loadOrMakeAcmeAccount, saveAcmeAccountUrl } from '#db/acme-accounts.ts';
import type { Keyring } from '#db/keyring.ts';
import type { Db } from '#db/open.ts';
import type { Clock } from '#lib/clock.ts';
import type { Account, Authority } from './authority.ts';
import { createSigner, makeKey } from './jws.ts';

export interface AccountOptions {
  readonly db: Db;
  readonly ring: Keyring;
  readonly authority: Pick<Authority, 'register'>;
  /** The authority's address. */
  readonly directory: string;
  /** For the authority's warnings. */
  readonly email: string | undefined;
  readonly clock: Clock;
}

export interface AccountHolder {
  /** Rejects like `Authority.register`. */
  get(signal: AbortSignal): Promise<Account>;
  /** The authority does not know it: the same key is registered again when it is next needed. */
  forget(): Promise<void>;
}

export function createAccountHolder({ db, ring, authority, directory, email, clock }: AccountOptions): AccountHolder {
  let held: Account | undefined;
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
      const url = await authority.register(signer, email, signal);
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
