/** A domain with range back-source over an origin with one large object. */
import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { CacheStore } from '../../../src/edge/store/store.ts';
import type { SiteSpec } from '../../../src/sites/spec.ts';
import { type FetchOptions, type Received, SITE_HOST, startTestEdge } from './edge.ts';
import { MIB, madeBytes, type ServedObject, startSliceableOrigin } from './sliceable.ts';

export const FILE = madeBytes(5 * MIB);

interface Started {
  readonly object?: Partial<ServedObject>;
  readonly site?: Partial<SiteSpec>;
  readonly cacheBytes?: number;
  readonly maxLagBytes?: number;
  readonly store?: CacheStore;
}

export async function startSliced(t: Pick<TestContext, 'after'>, { object, site, ...options }: Started = {}) {
  const origin = await startSliceableOrigin(t, { bytes: FILE, ...object });
  const edge = await startTestEdge(t, [origin.port], { cacheBytes: 64 * MIB, ...options });
  edge.put({ name: SITE_HOST, rangeBackSource: true, ...site });
  const advance = (ms: number) => {
    origin.advance(ms);
    edge.advance(ms);
  };
  return { origin, edge, advance };
}

export const range = (text: string, ...more: string[]): FetchOptions => ({
  headers: ['Range', `bytes=${text}`, ...more],
});

export function assertBytes(received: Received, expected: Buffer, status = 200): void {
  assert.equal(received.status, status);
  assert.ok(received.isWhole, 'the answer is whole');
  assert.equal(received.body.length, expected.length);
  assert.ok(Buffer.from(received.body, 'latin1').equals(expected), 'the bytes are those of the object');
}

export const mark = ({ headers }: Received) => headers['x-cache'];
