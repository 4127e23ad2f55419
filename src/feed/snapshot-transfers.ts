/** Sends files of snapshots to edges on other machines: whole or from where they were cut, some at a time, paced. */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Db } from '#db/open.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { Pacer } from './pacer.ts';
import { parsePositionQuery } from './position-query.ts';
import { CONTINUES_HEADER } from './protocol.ts';
import { queryOf, refuseRequest } from './request-handler.ts';
import type { SnapshotFile, SnapshotFiles } from './snapshot-files.ts';

const MAX_TRANSFERS = 16;
/** Longest time after which a refused edge is to ask again, chosen at random. */
const MAX_RETRY_SECONDS = 30;
/** Time without progress after which a transfer is cut. */
const STALL_MS = 30_000;
const CHUNK_BYTES = 64 * 1024;

export interface SnapshotTransfers {
  readonly running: number;
  /** Bytes of files that were sent since the start. */
  readonly sentBytes: number;
  /** Transfers that began since the start. */
  readonly begun: number;
  /** Answers a request of an edge in the group. */
  answer(request: IncomingMessage, response: ServerResponse, group: string): Promise<void>;
}

export interface SnapshotTransfersOptions {
  readonly db: Db;
  readonly files: SnapshotFiles;
  readonly pacer: Pacer;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
}

export function createSnapshotTransfers({ db, files, pacer, random }: SnapshotTransfersOptions): SnapshotTransfers {
  let running = 0;
  let begun = 0;
  let sentBytes = 0;

  const send = async (file: SnapshotFile, start: number, response: ServerResponse) => {
    const stop = new AbortController();
    response.on('close', () => stop.abort());
    response.setTimeout(STALL_MS, () => response.destroy());
    const chunks = async function* () {
      for await (const chunk of createReadStream(file.path, { start, highWaterMark: CHUNK_BYTES })) {
        await pacer.take(chunk.length, stop.signal);
        sentBytes += chunk.length;
        yield chunk;
      }
    };
    await pipeline(chunks, response);
  };
  return {
    get running() {
      return running;
    },
    get begun() {
      return begun;
    },
    get sentBytes() {
      return sentBytes;
    },
    async answer(request, response, group) {
      const query = queryOf(request);
      const from = query === '' ? undefined : parsePositionQuery(query);
      if (running >= MAX_TRANSFERS) {
        response.setHeader('retry-after', 1 + Math.floor(random() * MAX_RETRY_SECONDS));
        return refuseRequest(response, 503, `${MAX_TRANSFERS} snapshots are being sent`);
      }
      running += 1;
      begun += 1;
      try {
        const { file, start } = await choose(files, request, group);
        response.setHeader(CONTINUES_HEADER, String(from !== undefined && (await isInHistory(db.query, from))));
        writeHead(response, file, start);
        await send(file, start, response);
      } finally {
        running -= 1;
      }
    },
  };
}

/** A range counts only if the file that it began with is still there. RFC 9110 §13.1.5 */
async function choose(files: SnapshotFiles, { headers }: IncomingMessage, group: string) {
  const start = Number(/^bytes=(\d{1,15})-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const begun = start > 0 ? files.find(group, String(headers['if-range'])) : undefined;
  if (begun !== undefined && start < begun.sizeBytes) return { file: begun, start };
  return { file: await files.get(group), start: 0 };
}

function writeHead(response: ServerResponse, { sizeBytes, etag }: SnapshotFile, start: number): void {
  response.writeHead(start > 0 ? 206 : 200, {
    'content-type': 'application/zstd',
    'content-length': sizeBytes - start,
    'accept-ranges': 'bytes',
    etag,
    ...(start > 0 && { 'content-range': `bytes ${start}-${sizeBytes - 1}/${sizeBytes}` }),
  });
}
