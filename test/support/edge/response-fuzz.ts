/** The reader of origins' responses and node:http are given the same bytes. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { type ParsedHead, ResponseReader } from '#edge/origin/own/response-reader.ts';
import { allValues, hasField } from '#http/headers.ts';
import { type NodeResponse, readByNode } from './node-responses.ts';
import { anyResponse } from './responses.ts';

/** How often what was of interest came about. */
export interface SeenResponses {
  /** Responses that both understood in the same way, and those of them that had a body, chunks, or the connection's end. */
  wholes: number;
  bodies: number;
  chunked: number;
  atEnd: number;
  /** Responses that our reader refused, and those that broke off. */
  refused: number;
  cut: number;
}

/** What our reader takes, node:http understands in the same way, however the bytes are split. */
export async function fuzzResponses(runs: number, seed: number): Promise<SeenResponses> {
  const seen: SeenResponses = { wholes: 0, bodies: 0, chunked: 0, atEnd: 0, refused: 0, cut: 0 };
  const splits = fc.array(fc.integer({ min: 1, max: 30 }), { minLength: 1, maxLength: 4 });
  const property = fc.asyncProperty(
    anyResponse,
    fc.constantFrom('GET', 'GET', 'HEAD'),
    splits,
    async (bytes, method, sizes) => {
      const whole = readOurs(bytes, method, [bytes.length]);
      const inPieces = [readOurs(bytes, method, sizes), readOurs(bytes, method, [1])];
      if (whole.kind === 'whole') for (const read of inPieces) assert.deepEqual(read, whole, 'in pieces');
      else {
        // The bytes of a line in pieces are looked at when the line is whole.
        for (const { kind } of inPieces) assert.notEqual(kind, 'whole', 'in pieces');
        seen[whole.kind]++;
        return;
      }
      const { readBytes, isChunked, ...ours } = whole.response;
      const node = await readByNode(bytes.subarray(0, readBytes), method);
      const isSeveral =
        allValues(ours.headers, 'content-length').join() !== allValues(node.headers, 'content-length').join();
      if (node.error === 'HPE_UNEXPECTED_CONTENT_LENGTH' || node.error === 'HPE_INVALID_CONTENT_LENGTH') {
        assert.ok(isSeveral, 'several equal lengths are one; node:http refuses them');
        return;
      }
      if (node.error === 'HPE_CLOSED_CONNECTION') {
        const beforeEnd = bytes.toString('latin1').toLowerCase().split('http/1.').slice(0, -1).join();
        assert.match(beforeEnd, /connection:.*close/, 'we read on behind an interim response that says so');
        return;
      }
      const { error: _, interims, ...given } = node;
      assert.deepEqual({ ...given, interims: interims.filter((status) => status !== 100) }, ours);
      seen.wholes++;
      if (ours.body !== '') seen.bodies++;
      if (isChunked) seen.chunked++;
      if (!ours.isWholeEarly) seen.atEnd++;
    },
  );
  await fc.assert(property, { numRuns: runs, seed });
  return seen;
}

type Ours = { readonly kind: 'whole'; readonly response: OurResponse } | { readonly kind: 'refused' | 'cut' };

interface OurResponse extends Omit<NodeResponse, 'error'> {
  /** Bytes up to the end of the response. */
  readonly readBytes: number;
  readonly isChunked: boolean;
}

/** `sizes`: of the pieces, in turn. */
function readOurs(bytes: Buffer, method: string, sizes: readonly number[]): Ours {
  const interims: number[] = [];
  let head: ParsedHead = { status: 0, reason: '', headers: [] };
  let body = '';
  const reader = new ResponseReader({
    onInterim: (status) => void interims.push(status),
    onHead: (read) => {
      head = read;
    },
    onBody: (piece) => {
      body += piece.toString('latin1');
    },
  });
  reader.expect(method === 'HEAD');
  let readBytes = 0;
  for (let turn = 0; readBytes < bytes.length && !reader.isOver && reader.fault === undefined; turn++) {
    // A copy, since the reader moves chunks together.
    const piece = Buffer.from(bytes.subarray(readBytes, readBytes + (sizes[turn % sizes.length] ?? 1)));
    readBytes += reader.read(piece, 0);
  }
  if (reader.fault !== undefined) return { kind: 'refused' };
  const isWholeEarly = reader.isOver;
  if (!reader.end()) return { kind: 'cut' };
  const isChunked = hasField(head.headers, 'transfer-encoding') && isWholeEarly && body !== '';
  return { kind: 'whole', response: { ...head, body, isWholeEarly, isWhole: true, interims, readBytes, isChunked } };
}
