/** Where the live processes of a data directory have what is theirs, and where edge workers find the present one. */
import { join } from 'node:path';
import type { LivePlaces } from '#live/hand-over.ts';

/** A link to the socket of the process that takes new streams. */
export function liveSocketPath(dataDir: string): string {
  return join(dataDir, 'run', 'live.sock');
}

/** `name`: of the process, `live` or that of a later generation. */
export function livePlaces(dataDir: string, name: string): LivePlaces {
  return {
    socketPath: join(dataDir, 'run', `${name}.relay.sock`),
    file: join(dataDir, 'live', `${name}.db`),
    recordings: join(dataDir, 'live', name.replace('live', 'recordings')),
  };
}
