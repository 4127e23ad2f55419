/** Traffic as edges tell it, for tests of what control makes of it. */
import type { TestContext } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Db } from '#db/open.ts';
import { MINUTE_MS } from '#lib/durations.ts';
import { type Counters, noCounters } from '#logs/counters.ts';
import { createDays } from '#logs/day.ts';
import { createTraffic } from '#logs/receive.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { temporaryFolder } from '../temporary.ts';

export interface TestTraffic {
  /** A part of the day's log file with these lines. Gives its size. */
  addLines(domainId: number, at: number, lines: readonly string[]): Promise<number>;
  addCounts(domainId: number, at: number, counts: Partial<Counters>): Promise<void>;
  addTop(
    domainId: number,
    at: number,
    kind: 'url' | 'referer' | 'client' | 'status',
    value: string,
    requests: number,
  ): Promise<void>;
}

/** `blobs`: those of the control under test, where bytes matter. Days are Shanghai's. */
export function createTestTraffic(t: Pick<TestContext, 'after'>, db: Db, blobs?: BlobStore): TestTraffic {
  const store = blobs ?? localBlobStore(temporaryFolder(t));
  const timeZone = 'Asia/Shanghai';
  const days = createDays(timeZone);
  const traffic = createTraffic({ db, blobs: store, timeZone, clock: () => 0 });
  let sequence = 0;
  const nextFile = () => `worker-1-20260131T160000000Z-${String(sequence++).padStart(4, '0')}`;
  const keyOf = (domainId: number, at: number) => {
    const hour = String(Math.floor((at - days.startOf(days.dayOf(at))) / 3_600_000)).padStart(2, '0');
    return { domainId, day: days.dayOf(at), hour, edge: 'edge-1', file: nextFile() };
  };
  const noTop = { url: [], referer: [], client: [], status: [] };
  return {
    async addLines(domainId, at, lines) {
      const gzip = gzipSync(lines.map((line) => `${line}\n`).join(''));
      await traffic.takePart({ key: keyOf(domainId, at), lines: lines.length, firstAt: at, top: noTop, gzip });
      return gzip.length;
    },
    async addCounts(domainId, at, counts) {
      const minutes = [{ ...noCounters(), ...counts, domainId, minute: Math.floor(at / MINUTE_MS) }];
      await traffic.takeReport({ edge: 'edge-1', start: 'a', sequence: ++sequence, minutes });
    },
    async addTop(domainId, at, kind, value, requests) {
      const top = { ...noTop, [kind]: [{ value, requests, bytes: requests * 10 }] };
      await traffic.takePart({ key: keyOf(domainId, at), lines: 0, firstAt: at, top, gzip: gzipSync('') });
    },
  };
}
