/** An origin with one large object, that gives ranges of it as a file server does, and may be made to err. */
import { createHash } from 'node:crypto';
import type { ServerResponse } from 'node:http';
import type { TestContext } from 'node:test';
import { type ScriptedOrigin, type SeenRequest, startOrigin } from './origin.ts';

export const MIB = 1024 * 1024;

export interface ServedObject {
  readonly bytes: Buffer;
  /** `undefined`: none. */
  readonly etag: string | undefined;
  readonly headers: Readonly<Record<string, string>>;
}

/** True: it has answered. */
export type Fault = (request: SeenRequest, response: ServerResponse, object: ServedObject) => boolean;

export interface SliceableOrigin extends ScriptedOrigin {
  /** The `Range` of each request so far; a dash where there was none. */
  readonly ranges: () => readonly string[];
  set(object: Partial<ServedObject>): void;
  /** Asked first, for each request. */
  fail(fault: Fault | undefined): void;
  /** Moves its clock forward, as a test moves the edge's. */
  advance(ms: number): void;
}

export async function startSliceableOrigin(
  t: Pick<TestContext, 'after'>,
  given: Partial<ServedObject> = {},
): Promise<SliceableOrigin> {
  const headers = { 'cache-control': 'max-age=60', 'content-type': 'video/mp4' };
  let object: ServedObject = { bytes: given.bytes ?? madeBytes(5 * MIB), etag: '"one"', headers, ...given };
  let fault: Fault | undefined;
  let aheadMs = 0;
  const origin = await startOrigin(t, (request, response) => {
    response.setHeader('date', new Date(Date.now() + aheadMs).toUTCString());
    if (fault?.(request, response, object) !== true) serveObject(request, response, object);
  });
  return {
    ...origin,
    ranges: () => origin.requests.map(({ headers: { range = '-' } }) => range.replace('bytes=', '')),
    set: (change) => {
      object = { ...object, ...change };
    },
    fail: (next) => {
      fault = next;
    },
    advance: (ms) => {
      aheadMs += ms;
    },
  };
}

export function serveObject(request: SeenRequest, response: ServerResponse, object: ServedObject): void {
  const { bytes, etag, headers } = object;
  const all = { ...headers, ...(etag !== undefined && { etag }), 'accept-ranges': 'bytes' };
  if (etag !== undefined && request.headers['if-none-match'] === etag) {
    response.writeHead(304, all).end();
    return;
  }
  const [, from, to] = /^bytes=(\d+)-(\d*)$/.exec(request.headers['range'] ?? '') ?? [];
  const isHeld = request.headers['if-range'] === undefined || request.headers['if-range'] === etag;
  if (from === undefined || !isHeld) {
    response.writeHead(200, { ...all, 'content-length': String(bytes.length) }).end(bytes);
    return;
  }
  const [first, last] = [Number(from), Math.min(to === '' ? Infinity : Number(to), bytes.length - 1)];
  if (first >= bytes.length) {
    response.writeHead(416, { 'content-range': `bytes */${bytes.length}`, 'content-length': '0' }).end();
    return;
  }
  const part = bytes.subarray(first, last + 1);
  const range = `bytes ${first}-${last}/${bytes.length}`;
  response.writeHead(206, { ...all, 'content-range': range, 'content-length': String(part.length) }).end(part);
}

/** The same for the same seed; no two slices are alike. */
export function madeBytes(length: number, seed = 'one'): Buffer {
  return length === 0 ? Buffer.alloc(0) : createHash('shake256', { outputLength: length }).update(seed).digest();
}

export function sliceRange(slice: number, end = (slice + 1) * MIB): string {
  return `${slice * MIB}-${end - 1}`;
}
