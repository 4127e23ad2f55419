/** A request as the access log gets it: a hit of 100 bytes. */
import type { LocalTime } from '../../../src/lib/local-time.ts';
import { HitLines } from '../../../src/logs/hit-line.ts';
import type { HitRecord } from '../../../src/logs/hit-record.ts';
import type { AccessRecord } from '../../../src/logs/line.ts';

export const HIT: Omit<AccessRecord, 'endedAt'> = {
  clientAddress: '203.0.113.9',
  durationMs: 1,
  requestBytes: 10,
  responseBytes: 100,
  host: 'www.example.com',
  method: 'GET',
  target: '/',
  httpVersion: '1.1',
  cacheCode: 'TCP_MEM_HIT',
  status: 200,
  contentType: undefined,
  referer: undefined,
  userAgent: undefined,
};

const MAX_LINE_BYTES = 128 * 1024;

/** Formats the 13 fields of a hit, as `formatLine` does those of other requests. */
export function formatHit(hit: HitRecord, zone: LocalTime): string {
  const bytes = Buffer.alloc(MAX_LINE_BYTES);
  return bytes.toString('utf8', `${hit.domainId}\t`.length, new HitLines(zone).write(bytes, 0, hit));
}
