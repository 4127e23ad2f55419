/** The reader of the fast path and node:http are given the same bytes. */
import assert from 'node:assert/strict';
import fc from 'fast-check';
import { DEFAULT_LIMITS } from '#edge/limits.ts';
import { parseRequest, requestHeadBytes } from '#edge/request.ts';
import { type Reading, RequestHead, readHead } from '#edge/transport/http1/read-head.ts';
import { joinedValue } from '#http/headers.ts';
import { anyHeads } from './heads.ts';
import { NodeReader } from './node-requests.ts';

/** How often what was of interest came about. */
export interface Seen {
  /** Heads that both understood in the same way, and of those the plain ones and the connections' last. */
  wholes: number;
  plain: number;
  lasts: number;
  /** Bytes in which node:http found an error. */
  errors: number;
}

export async function fuzzHeads(runs: number, seed: number): Promise<Seen> {
  const node = new NodeReader({ maxHeaderSize: DEFAULT_LIMITS.maxHeaderBytes, isEdge: true });
  const seen: Seen = { wholes: 0, plain: 0, lasts: 0, errors: 0 };
  const property = fc.asyncProperty(anyHeads, async (bytes) => {
    const { taken, rest } = readAll(bytes, seen);
    const { requests, error } = await node.read(bytes);
    assert.deepEqual(requests.slice(0, taken.length), taken);
    if (error !== undefined) seen.errors++;
    // Nobody is kept waiting whose bytes are wrong already; of a length node:http says so before its line ends.
    if (rest === 'incomplete' && error !== 'HPE_INVALID_CONTENT_LENGTH')
      assert.deepEqual([requests.length, error], [taken.length, undefined]);
  });
  await fc.assert(property, { numRuns: runs, seed });
  return seen;
}

interface Taken {
  readonly method: string;
  readonly target: string;
  readonly headers: readonly string[];
  readonly isLast: boolean;
}

/** What the reader takes of requests that come one behind the other, and what it says to the rest. */
function readAll(bytes: Buffer, seen: Seen): { readonly taken: readonly Taken[]; readonly rest: Reading | 'unread' } {
  const head = new RequestHead();
  const taken: Taken[] = [];
  for (let from = 0; ; from = head.end) {
    const reading = readHead(bytes, from, bytes.length, head);
    if (reading !== 'whole') return { taken, rest: reading };
    const { isHead, isLast, isPlain, targetStart, targetEnd } = head;
    const target = bytes.toString('latin1', targetStart, targetEnd);
    const request = { method: isHead ? 'HEAD' : 'GET', target, headers: head.rawHeaders(bytes), isLast };
    taken.push(request);
    seen.wholes++;
    checkCut(bytes, from, head.end);
    if (isPlain) {
      seen.plain++;
      checkPlain(bytes, from, head, request);
    }
    if (isLast) {
      seen.lasts++;
      return { taken, rest: 'unread' };
    }
  }
}

/** A head that is not all here is never anything else. */
function checkCut(bytes: Buffer, from: number, end: number): void {
  const head = new RequestHead();
  const cuts = [from, from + 1, from + ((end * 7) % (end - from)), end - 3, end - 2, end - 1];
  for (const cut of cuts) assert.equal(readHead(bytes, from, cut, head), 'incomplete', `cut at ${cut}`);
}

/** The pipeline finds nothing in it but what `head` tells the place of. */
function checkPlain(bytes: Buffer, from: number, head: RequestHead, { method, target, headers }: Taken): void {
  const text = (start: number, end: number) => (start === end ? undefined : bytes.toString('latin1', start, end));
  assert.equal(text(head.hostStart, head.hostEnd), joinedValue(headers, 'host'));
  assert.equal(text(head.userAgentStart, head.userAgentEnd), joinedValue(headers, 'user-agent'));
  assert.equal(text(head.refererStart, head.refererEnd), joinedValue(headers, 'referer'));
  assert.equal(text(head.acceptEncodingStart, head.acceptEncodingEnd), joinedValue(headers, 'accept-encoding'));
  assert.equal(joinedValue(headers, 'x-forwarded-for') ?? joinedValue(headers, 'x-forwarded-proto'), undefined);
  assert.equal(head.end - from, requestHeadBytes({ method, target, headers }));
  const client = { clientAddress: '192.0.2.1', isTls: false };
  const version = { httpVersion: '1.1', hasUnknownVersion: false } as const;
  const request = parseRequest(
    { method, target, headers, hasUnknownExpectation: false, ...version, ...client },
    'causeway',
  );
  if (request.kind === 'invalid') {
    assert.match(request.reason, /^(host|target|hostMismatch|targetTooLong)$/);
    return;
  }
  assert.equal(request.kind, 'request');
  if (request.kind !== 'request') return;
  const { sentHeaders: _, hasAuthorization, ifRange, ...facts } = request.facts; // these two count where something is stored, or with Range
  assert.deepEqual(facts, {
    method,
    uri: request.uri,
    hasBody: false,
    directives: undefined,
    ifNoneMatch: text(head.ifNoneMatchStart, head.ifNoneMatchEnd),
    ifModifiedSince: text(head.ifModifiedSinceStart, head.ifModifiedSinceEnd),
    hasOriginCondition: false,
    range: undefined,
  });
}
