/**
 * Stores log parts where control says, such as in S3, so that their bytes do not pass control. What cannot be stored
 * there is returned, to be sent to control. docs/decisions/0744
 */
import { createHash } from 'node:crypto';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { formatPartKey, type LogPart } from '../report.ts';
import { formatStored, formatWanted, type PartPlace, parsePlaces, parseStoredKeys } from '../upload-messages.ts';

export interface PlacePartsOptions {
  /** Asks control for places; `undefined` if it takes all bytes itself. Rejects if a retry may help. */
  readonly askPlaces: (message: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Tells control which parts are stored. Rejects if a retry may help. */
  readonly tellStored: (message: string, signal: AbortSignal) => Promise<string | undefined>;
  /** Returns the status of the answer; rejects if there is none. */
  readonly put: (place: PutPlace, bytes: Uint8Array, signal: AbortSignal) => Promise<number>;
  readonly steadyClock: Clock;
  readonly log: Logger;
}

type PutPlace = Extract<PartPlace, { readonly url: string }>;

/** Returns the parts that are not stored. */
export type PlaceParts = (parts: readonly LogPart[], signal: AbortSignal) => Promise<readonly LogPart[]>;

/** Time for which the storage is not tried again after a failure. */
const PAUSE_MS = 600_000;

export function createPlaceParts({ askPlaces, tellStored, put, steadyClock, log }: PlacePartsOptions): PlaceParts {
  let pausedUntil = Number.NEGATIVE_INFINITY;
  const putAt = async (place: PutPlace, { gzip }: LogPart, signal: AbortSignal): Promise<boolean> => {
    if (steadyClock() < pausedUntil) return false;
    const outcome = await put(place, gzip, signal).catch((error: unknown) => error);
    signal.throwIfAborted();
    if (typeof outcome === 'number' && outcome >= 200 && outcome < 300) return true;
    pausedUntil = steadyClock() + PAUSE_MS;
    const what = { host: new URL(place.url).host, status: outcome };
    log.warn(
      typeof outcome === 'number' ? what : { ...what, status: undefined, err: outcome },
      'cannot store log files where control says; sending them to control for ten minutes',
    );
    return false;
  };
  return async (parts, signal) => {
    if (steadyClock() < pausedUntil) return parts;
    const answer = await askPlaces(formatWanted(parts.map(toWanted)), signal);
    const places = answer === undefined ? undefined : parsePlaces(answer);
    if (places === undefined) return parts;
    const byKey = new Map(places.map((place) => [place.key, place]));
    const placed: LogPart[] = [];
    const left: LogPart[] = [];
    for (const part of parts) {
      const place = byKey.get(formatPartKey(part.key));
      if (place !== undefined && 'have' in place) continue;
      const isPut = place !== undefined && (await putAt(place, part, signal));
      (isPut ? placed : left).push(part);
    }
    if (placed.length === 0) return left;
    const stored = new Set(parseStoredKeys((await tellStored(formatStored(placed.map(toStored)), signal)) ?? ''));
    return [...left, ...placed.filter(({ key }) => !stored.has(formatPartKey(key)))];
  };
}

function toWanted({ key, firstAt, gzip }: LogPart) {
  return { key, firstAt, bytes: gzip.length, sha256: createHash('sha256').update(gzip).digest('hex') };
}

function toStored({ gzip, ...part }: LogPart) {
  return { ...part, bytes: gzip.length };
}
