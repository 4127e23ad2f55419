/** Objects whose every byte follows from their path, in a mix of sizes and framings; and what a client finds of them. */
import { createHash } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import type { Answer } from './origin.ts';

export interface Fill {
  readonly path: string;
  /** A part is asked for first, then the whole. */
  readonly isInParts: boolean;
}

const KIB = 1024;

/** The first `count` of them below a prefix. */
export function mixedFills(prefix: string, count: number): readonly Fill[] {
  return Array.from({ length: count }, (_, i) => {
    const kind = (['small', 'large', 'chunked', 'parts'] as const)[i % 4] ?? 'small';
    const sizes = { small: (i % 30) + 1, large: 64 + (i % 300), chunked: 40 + (i % 160), parts: 50 + (i % 150) };
    return { path: `/${prefix}/${kind}/${sizes[kind]}/${i}`, isInParts: kind === 'parts' };
  });
}

export function bodyOf(path: string): Buffer {
  const sizeBytes = Number(path.split('/')[3]) * KIB + path.length;
  const body = Buffer.alloc(sizeBytes, createHash('sha256').update(path).digest());
  // A piece in the wrong place would otherwise look like the right one.
  for (let at = 0; at + 4 <= sizeBytes; at += KIB) body.writeUInt32LE(at, at);
  return body;
}

export const answerFill: Answer = (request, response) => {
  const body = bodyOf(request.target);
  const headers = { 'cache-control': 'max-age=3600', etag: `"${createHash('sha256').update(body).digest('hex')}"` };
  const [, from = '', to = ''] = /^bytes=(\d+)-(\d*)$/.exec(request.headers['range'] ?? '') ?? [];
  if (from !== '') {
    const last = to === '' ? body.length - 1 : Number(to);
    const part = body.subarray(Number(from), last + 1);
    const range = { 'content-range': `bytes ${from}-${last}/${body.length}`, 'content-length': String(part.length) };
    response.writeHead(206, { ...headers, ...range }).end(part);
  } else if (request.target.includes('/chunked/')) {
    response.writeHead(200, headers);
    response.write(body.subarray(0, body.length / 2));
    response.end(body.subarray(body.length / 2));
  } else {
    response.writeHead(200, { ...headers, 'content-length': String(body.length) }).end(body);
  }
};

/** `cut`: the connection or the body broke off, as a client can tell. `wrong`: whole by its framing, and not the object. */
export type Found = 'right' | 'hit' | 'cut' | 'wrong';

/** Asks for each, so many at once; calls back after each. */
export async function fetchFills(
  edgeUrl: string,
  host: string,
  fills: readonly Fill[],
  onDone: (count: number) => void = () => undefined,
): Promise<readonly Found[]> {
  const agent = new Agent({ keepAlive: true, maxSockets: CONCURRENCY });
  const found: Found[] = [];
  let next = 0;
  const work = async () => {
    for (let index = next++; index < fills.length; index = next++) {
      const fill = fills[index];
      if (fill === undefined) return;
      if (fill.isInParts) await fetchFill(edgeUrl, host, fill.path, agent, PART);
      found[index] = await fetchFill(edgeUrl, host, fill.path, agent);
      onDone(found.filter(() => true).length);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  agent.destroy();
  return found;
}

const CONCURRENCY = 32;
const PART = 20 * KIB;

function fetchFill(edgeUrl: string, host: string, path: string, agent: Agent, partBytes?: number): Promise<Found> {
  const { promise, resolve } = Promise.withResolvers<Found>();
  const range = partBytes === undefined ? {} : { range: `bytes=0-${partBytes - 1}` };
  const sent = httpRequest(`${edgeUrl}${path}`, { agent, headers: { host, ...range } }, (response) => {
    const chunks: Buffer[] = [];
    response.on('data', (chunk: Buffer) => chunks.push(chunk));
    response.on('error', () => undefined); // shows as not complete
    response.on('close', () => {
      const status = response.statusCode ?? 0;
      if (!response.complete || status >= 500) return resolve('cut');
      const body = Buffer.concat(chunks);
      const expected = status === 206 ? bodyOf(path).subarray(0, partBytes) : bodyOf(path);
      if ((status !== 200 && status !== 206) || !body.equals(expected)) return resolve('wrong');
      resolve(response.headers['x-cache'] === 'HIT' ? 'hit' : 'right');
    });
  });
  sent.on('error', () => resolve('cut'));
  sent.end();
  return promise;
}
