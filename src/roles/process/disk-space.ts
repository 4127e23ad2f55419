/** The file systems that the service of this machine keeps its data on, and the room on them. */
import { stat, statfs } from 'node:fs/promises';
import type { Registry } from 'prom-client';
import type { Config } from '#config';
import { metricsOf } from '#lib/metrics.ts';
import { startRounds } from '#lib/rounds.ts';

/** `data`: the data directory, and in it SQLite's database. `logs`: control's log files and recordings, unless in S3. */
type DiskName = 'data' | 'cache' | 'logs';

export interface DiskSpace {
  readonly disk: DiskName;
  readonly directory: string;
  /** Number of the file system. */
  readonly device: number;
  readonly sizeBytes: number;
  /** Bytes that the service can still write. */
  readonly freeBytes: number;
}

type DiskConfig = Pick<Config, 'roles' | 'dataDir' | 'cacheDirectory' | 'cacheDiskBytes' | 'logStore'>;

/** Directories of the roles of this machine; several may be on one file system. */
function directoriesOf({ roles, dataDir, cacheDirectory, cacheDiskBytes, logStore }: DiskConfig) {
  const places: { readonly disk: DiskName; readonly directory: string }[] = [{ disk: 'data', directory: dataDir }];
  if (roles.includes('edge') && cacheDiskBytes > 0) places.push({ disk: 'cache', directory: cacheDirectory });
  if (roles.includes('control') && logStore.kind === 'local')
    places.push({ disk: 'logs', directory: logStore.directory });
  return places;
}

/** Reads the room on each disk. One that is not there (yet) is left out. */
export async function readDiskSpaces(config: DiskConfig): Promise<readonly DiskSpace[]> {
  const spaces = await Promise.all(
    directoriesOf(config).map(async (place) => {
      try {
        const { blocks, bavail, bsize } = await statfs(place.directory);
        const { dev: device } = await stat(place.directory);
        return blocks === 0 ? [] : [{ ...place, device, sizeBytes: blocks * bsize, freeBytes: bavail * bsize }];
      } catch {
        return [];
      }
    }),
  );
  return spaces.flat();
}

const LOOK_EVERY_MS = 10_000;

/** Keeps the metrics of the disks. They are read apart from the collection, which a disk that hangs must not delay. */
export function watchDisks(config: DiskConfig, registry: Registry): AsyncDisposable {
  const { gauges } = metricsOf(registry);
  let spaces: readonly DiskSpace[] = [];
  gauges('causeway_disk_size_bytes', 'Size of the file systems of the service: data, cache, logs', ['disk'], () =>
    spaces.map(({ disk, sizeBytes }) => [{ disk }, sizeBytes]),
  );
  gauges(
    'causeway_disk_free_bytes',
    'Free bytes on the file systems of the service: data (with the database, if it is SQLite), cache, logs',
    ['disk'],
    () => spaces.map(({ disk, freeBytes }) => [{ disk }, freeBytes]),
  );
  return startRounds({
    everyMs: LOOK_EVERY_MS,
    work: async () => {
      spaces = await readDiskSpaces(config);
    },
    onFailure: () => undefined, // it never fails
  });
}
