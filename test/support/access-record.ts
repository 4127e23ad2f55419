/** A request as the access log gets it: a hit of 100 bytes. */
import type { AccessRecord } from '../../src/logs/line.ts';

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
