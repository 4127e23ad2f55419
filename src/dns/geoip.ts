/** A GeoIP database on disk, which is read again when it is replaced. A file that cannot be read keeps the former one. */
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { Logger } from '#lib/logger.ts';
import { startRounds } from '#lib/rounds.ts';
import { isCoordinates } from '#model/edge-place.ts';
import type { LookUpPlace } from './location.ts';

const LOOK_MS = 30_000;
/** The larger ones of those on the market have 150 MB. */
const MAX_BYTES = 1024 ** 3;

export interface Geoip extends AsyncDisposable {
  readonly lookUp: LookUpPlace;
  /** Whether a database is in use. */
  readonly isOpen: boolean;
}

/** Resolves when the file was read, or could not be. */
export async function openGeoip(file: string, log: Logger): Promise<Geoip> {
  let lookUp: LookUpPlace | undefined;
  let seen = '';
  let isDamaged = false;
  const read = async () => {
    const stats = statSync(file, { bigint: true });
    const look = `${stats.ino} ${stats.size} ${stats.mtimeNs}`;
    if (look === seen) return;
    seen = look; // a damaged file is tried once
    lookUp = await readDatabase(file, Number(stats.size));
    isDamaged = false;
    log.info({ file }, 'GeoIP database read');
  };
  const onFailure = (error: unknown, isRepeated: boolean) => {
    if (!isRepeated) log.error({ err: error, file }, 'cannot read the GeoIP database; the former one stays in use');
  };
  await read().catch((error: unknown) => onFailure(error, false));
  const rounds = startRounds({ everyMs: LOOK_MS, isDelayed: true, work: read, onFailure });
  const find: LookUpPlace = (address) => {
    try {
      return lookUp?.(address);
    } catch (error) {
      if (!isDamaged) log.error({ err: error, file }, 'the GeoIP database is damaged; some clients are not located');
      isDamaged = true;
      return undefined;
    }
  };
  return {
    lookUp: find,
    get isOpen() {
      return lookUp !== undefined;
    },
    [Symbol.asyncDispose]: () => rounds[Symbol.asyncDispose](),
  };
}

async function readDatabase(file: string, sizeBytes: number): Promise<LookUpPlace> {
  if (sizeBytes > MAX_BYTES) throw new Error(`expected at most ${MAX_BYTES} bytes`);
  const { Reader } = await import('mmdb-lib'); // only where a database is used
  const reader = new Reader(await readFile(file));
  return (address) => {
    if (reader.metadata.ipVersion === 4 && address.includes(':')) return undefined; // the library would not notice
    const [found, prefix] = reader.getWithPrefixLength(address);
    // `as`: an object's members are unknown values by their names; the coordinates are checked.
    const { location } = Object(found) as { readonly location?: unknown };
    if (!isCoordinates(location)) return { prefix };
    const { latitude, longitude } = location;
    return { coordinates: { latitude, longitude }, prefix };
  };
}
