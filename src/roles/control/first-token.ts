/**
 * The first access token of an installation: from the settings, or created here while there is no account. It is the
 * only token that may do everything.
 */
import { chmodSync, readFileSync, rmSync } from 'node:fs';
import { lockInTransaction } from '#db/engines/engine.ts';
import type { Db } from '#db/open.ts';
import { countAccounts, createAccount } from '#db/tables/accounts.ts';
import { createToken, findTokensByHash } from '#db/tables/tokens.ts';
import { hasCode } from '#lib/file-error.ts';
import { makePrivateFile } from '#lib/private-file.ts';
import { hashToken, isMinted, mintToken } from '#lib/token.ts';
import { isTokenUsable, SCOPES } from '#model/account.ts';
import type { FirstToken } from '../process/messages.ts';

export interface FirstTokenOptions {
  readonly db: Db;
  /** Token from the settings; absent: one is made and kept in `file`. */
  readonly given: string | undefined;
  readonly file: string;
  readonly now: number;
}

const ACCOUNT_NAME = 'first';

export async function ensureFirstToken({ db, given, file, now }: FirstTokenOptions): Promise<FirstToken> {
  if ((await countAccounts(db.query)) > 0) return (await isStillKept(db, file, now)) ? 'stillKept' : 'none';
  // Kept before it becomes valid: after a crash in between, the next start uses the file, and no token is lost.
  const token = given ?? keepToken(file);
  const isOurs = await db.transaction(async (trx) => {
    await lockInTransaction(trx, 'first account'); // another control may be starting on the same database
    if ((await countAccounts(trx)) > 0) return false;
    const account = await createAccount(trx, { name: ACCOUNT_NAME, kind: 'customer', now });
    await createToken(trx, { accountId: account.id, scopes: SCOPES, label: 'first', hash: hashToken(token), now });
    return true;
  });
  if (isOurs) return given === undefined ? 'kept' : 'given';
  // A part of a service that was killed may have made the account with the token of this file.
  if (await isStillKept(db, file, now)) return 'stillKept';
  if (given === undefined) rmSync(file, { force: true });
  return 'none';
}

/** Whether the token of the file still works. */
async function isStillKept(db: Db, file: string, now: number): Promise<boolean> {
  const token = readIfUsable(file);
  if (token === undefined || !isMinted(token)) return false;
  const hash = hashToken(token);
  const found = (await findTokensByHash(db.query, [hash])).get(hash);
  return found !== undefined && isTokenUsable(found.token, now);
}

function readIfUsable(file: string): string | undefined {
  try {
    return readIfThere(file);
  } catch {
    return undefined; // the file was made unreadable, which no start depends on
  }
}

/** Returns the token in the file, which is made if it is missing. Throws if the file has other content. */
function keepToken(file: string): string {
  // Of two starts that meet, both get the token of the first.
  if (readIfThere(file) === undefined) makePrivateFile(file, `${mintToken()}\n`);
  const kept = readIfThere(file);
  if (kept === undefined || !isMinted(kept))
    throw new Error(
      `${file} does not contain an access token of this installation; remove the file to create a new token`,
    );
  chmodSync(file, 0o600);
  return kept;
}

function readIfThere(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8').trim();
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined;
    throw error;
  }
}
