/** Where this machine's live process answers the edge workers. */
import { join } from 'node:path';

export function liveSocketPath(dataDir: string): string {
  return join(dataDir, 'run', 'live.sock');
}
