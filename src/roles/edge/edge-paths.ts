/** Files of an edge that several of its processes use. Apart from `edge-feed.ts`, whose parts the others need not load. */
import { join } from 'node:path';

export function ticketSecretsPath(dataDir: string): string {
  return join(dataDir, 'edge', 'ticket-secrets');
}

/** The settings that the edge serves. */
export function edgeStorePath(dataDir: string): string {
  return join(dataDir, 'edge', 'sites.db');
}
