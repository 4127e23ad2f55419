/** The identity of this edge as it is now, for every request: the file is read again when it has been replaced. */
import { statSync } from 'node:fs';
import { type Identity, IdentityError, readIdentity } from './identity.ts';
import { identityFile } from './identity-file.ts';

/** Returns a function that throws `IdentityError` if there is no identity, or none that can be used. */
export function createIdentityReader(dataDir: string): () => Identity {
  const file = identityFile(dataDir);
  let known: { readonly version: string; readonly identity: Identity } | undefined;
  return () => {
    const stats = statSync(file, { throwIfNoEntry: false });
    const version = stats === undefined ? '' : `${stats.ino}:${stats.mtimeMs}`;
    if (known?.version === version) return known.identity;
    const identity = readIdentity(dataDir);
    if (identity === undefined)
      throw new IdentityError(`there is no identity in ${dataDir}; enrol this machine with "causeway edge enrol"`);
    known = { version, identity };
    return identity;
  };
}
