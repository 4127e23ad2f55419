/** Heads of stored responses as origins send them. */
import type { Stored } from '../../../src/http/stored.ts';

/** Distinct for each number; 1 KiB of a picture, cached for an hour. */
export function sampleHead(number: number): Stored {
  const at = 1_764_288_000_000 + number;
  const date = new Date(at).toUTCString();
  const etag = `"${number.toString(16).padStart(8, '0')}-400"`;
  return {
    status: 200,
    reason: 'OK',
    headers: [
      ...['Server', 'nginx', 'Date', date, 'Content-Type', 'image/jpeg', 'Content-Length', '1024'],
      ...['Last-Modified', date, 'ETag', etag, 'Cache-Control', 'public, max-age=3600'],
    ],
    vary: [],
    varyKey: '',
    varyHeaders: [],
    etag,
    range: undefined,
    requestAt: at,
    responseAt: at,
    dateAt: at,
    lastModifiedAt: at,
    initialAgeMs: 0,
    lifetimeMs: 3_600_000,
    staleWhileRevalidateMs: 0,
    staleIfErrorMs: undefined,
    mustValidate: false,
    forbidsStale: false,
    isInvalid: false,
    noTransform: false,
  };
}
