/** Options of the database that the settings name. */
import type { Config } from '#config';
import type { DatabaseOptions } from '#db/open.ts';
import { databasePath } from '#lib/data-directory.ts';
import type { Logger } from '#lib/logger.ts';

export function databaseOptions({ databaseUrl, databaseListenUrl, dataDir }: Config, log: Logger): DatabaseOptions {
  return {
    file: databasePath(dataDir),
    log,
    ...(databaseUrl !== undefined && { url: databaseUrl }),
    ...(databaseListenUrl !== undefined && { listenUrl: databaseListenUrl }),
  };
}
