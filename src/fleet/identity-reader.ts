/** Reads the current identity of this edge for each request. Files are read again once they have been replaced. */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { type Identity, IdentityError, readIdentity } from './identity.ts';
import { identityFile, identityFolder } from './identity-file.ts';
import { readOwnIdentity } from './own-identity.ts';
import type { OwnFiles } from './trust.ts';

export interface IdentitySource {
  readonly dataDir: string;
  /** Present with the operator's own public-key infrastructure. */
  readonly own: OwnFiles | undefined;
  /** Controls to follow with `own`. */
  readonly controls: readonly string[];
}

/** Returns a function that throws `IdentityError` if there is no identity, or none that can be used. */
export function createIdentityReader({ dataDir, own, controls }: IdentitySource): () => Identity {
  const folder = identityFolder(dataDir);
  const files = own === undefined ? [identityFile(dataDir)] : [...Object.values(own), join(folder, 'announced.json')];
  let known: { readonly version: string; readonly identity: Identity } | undefined;
  return () => {
    const version = files.map(versionOf).join();
    if (known?.version === version) return known.identity;
    const identity = own === undefined ? readIdentity(dataDir) : readOwnIdentity(dataDir, own, controls);
    if (identity === undefined)
      throw new IdentityError(`there is no identity in ${dataDir}; enrol this machine with "causeway edge enrol"`);
    known = { version, identity };
    return identity;
  };
}

function versionOf(file: string): string {
  const stats = statSync(file, { throwIfNoEntry: false });
  return stats === undefined ? '' : `${stats.ino}:${stats.mtimeMs}`;
}
