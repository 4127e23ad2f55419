/** Where an edge keeps its identity. */
import { join } from 'node:path';

export function identityFile(dataDir: string): string {
  return join(identityFolder(dataDir), 'identity.json');
}

export function identityFolder(dataDir: string): string {
  return join(dataDir, 'edge', 'identity');
}
