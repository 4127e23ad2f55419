/** Sends files of snapshots to edges on other machines: whole or from where they were cut, some at a time, paced. */
import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Db } from '#db/open.ts';
import { isInHistory } from '#db/tables/revision-tags.ts';
import type { Peer } from '../publish/peer.ts';
import type { SnapshotFile, SnapshotFiles } from '../publish/snapshot-files.ts';
import { parsePositionQuery } from '../wire/position-query.ts';
import { CONTINUES_HEADER } from '../wire/protocol.ts';
import type { Pacer } from './pacer.ts';
import { queryOf, refuseRequest } from './request-handler.ts';

const MAX_TRANSFERS = 16;
/** Longest time after which a refused edge is to ask again, chosen at random. */
const MAX_RETRY_SECONDS = 30;
/** Limit of transfers of one edge: the second is for one that has lost its connection. */
const MAX_OF_EDGE = 2;
/** Time for each chunk after which a transfer is cut: an edge that reads more slowly keeps others waiting. */
const STALL_MS = 30_000;
const CHUNK_BYTES = 64 * 1024;

export interface SnapshotTransfers {
  readonly running: number;
  /** Bytes of files that were sent since the start. */
  readonly sentBytes: number;
  /** Transfers that began since the start. */
  readonly begun: number;
  /** Answers a request of an edge. */
  answer(request: IncomingMessage, response: ServerResponse, peer: Peer): Promise<void>;
}

export interface SnapshotTransfersOptions {
  readonly db: Db;
  readonly files: SnapshotFiles;
  readonly pacer: Pacer;
  /** 0 ≤ random < 1. */
  readonly random: () => number;
}

export function createSnapshotTransfers({ db, files, pacer, random }: SnapshotTransfersOptions): SnapshotTransfers {
  const places = createPlaces();
  let begun = 0;
  let sentBytes = 0;

  const send = async (file: SnapshotFile, start: number, response: ServerResponse, signal: AbortSignal) => {
    const stall = setTimeout(() => response.destroy(), STALL_MS);
    const chunks = async function* () {
      for await (const chunk of createReadStream(file.path, { start, highWaterMark: CHUNK_BYTES })) {
        await pacer.take(chunk.length, signal);
        sentBytes += chunk.length;
        stall.refresh();
        yield chunk;
      }
    };
    try {
      await pipeline(chunks, response);
    } finally {
      clearTimeout(stall);
    }
  };

  return {
    get running() {
      return places.taken;
    },
    get begun() {
      return begun;
    },
    get sentBytes() {
      return sentBytes;
    },
    async answer(request, response, { edge, group }) {
      const query = queryOf(request);
      const from = query === '' ? undefined : parsePositionQuery(query);
      const full = places.take(edge);
      if (full !== undefined) {
        response.setHeader('retry-after', 1 + Math.floor(random() * MAX_RETRY_SECONDS));
        return refuseRequest(response, 503, full);
      }
      begun += 1;
      // From here on: the edge may leave while its file is made.
      const left = new AbortController();
      response.on('close', () => left.abort());
      try {
        const continues = from !== undefined && (await isInHistory(db.query, from));
        const { file, start } = await choose(files, request, { group, atLeast: continues ? from.revision : 0 });
        response.setHeader(CONTINUES_HEADER, String(continues));
        writeHead(response, file, start);
        await send(file, start, response, left.signal);
      } finally {
        places.leave(edge);
      }
    },
  };
}

/** Counts the transfers that are running, in all and by edge. */
function createPlaces() {
  let taken = 0;
  const byEdge = new Map<string, number>();
  return {
    get taken() {
      return taken;
    },
    /** Returns why there is no place; `undefined`: it is taken. */
    take(edge: string): string | undefined {
      const own = byEdge.get(edge) ?? 0;
      if (taken >= MAX_TRANSFERS) return `${MAX_TRANSFERS} snapshots are being sent`;
      if (own >= MAX_OF_EDGE) return `${MAX_OF_EDGE} snapshots are being sent to this edge`;
      taken += 1;
      byEdge.set(edge, own + 1);
      return undefined;
    },
    leave(edge: string): void {
      taken -= 1;
      const rest = (byEdge.get(edge) ?? 0) - 1;
      if (rest > 0) byEdge.set(edge, rest);
      else byEdge.delete(edge);
    },
  };
}

/** A range counts only if the file that it began with is still there. RFC 9110 §13.1.5 */
async function choose(
  files: SnapshotFiles,
  { headers }: IncomingMessage,
  { group, atLeast }: { readonly group: string; readonly atLeast: number },
) {
  const start = Number(/^bytes=(\d{1,15})-$/.exec(headers.range ?? '')?.[1] ?? 0);
  const begun = start > 0 ? files.find(group, String(headers['if-range'])) : undefined;
  if (begun !== undefined && start < begun.sizeBytes && begun.at.revision >= atLeast) return { file: begun, start };
  return { file: await files.get(group, atLeast), start: 0 };
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
