/** A site that compresses, and clients that read what comes back. */
import { randomBytes } from 'node:crypto';
import type { TestContext } from 'node:test';
import { brotliDecompressSync, gunzipSync, zstdDecompressSync } from 'node:zlib';
import type { EdgeOptions } from '../../../src/edge/server.ts';
import type { SiteSpec } from '../../../src/sites/spec.ts';
import { type FetchOptions, type Received, SITE_HOST, startTestEdge, type TestEdge } from './edge.ts';
import { type Answer, type ScriptedOrigin, startOrigin } from './origin.ts';

export interface CodedEdge {
  readonly origin: ScriptedOrigin;
  readonly edge: TestEdge;
  /** Fetches with `Accept-Encoding` where one is given; the result has the decoded body. */
  get(path: string, acceptEncoding?: string, options?: FetchOptions): Promise<Read>;
  /** Compressions that were begun so far. */
  made(): Promise<number>;
}

export interface Read extends Received {
  readonly coding: string | undefined;
  readonly text: string;
}

export async function startCodedEdge(
  t: Pick<TestContext, 'after'>,
  script: Answer,
  site: Partial<SiteSpec> = {},
  options: Partial<EdgeOptions> & { readonly cacheBytes?: number } = {},
): Promise<CodedEdge> {
  const origin = await startOrigin(t, script);
  const edge = await startTestEdge(t, [origin.port], options);
  edge.put({ name: SITE_HOST, pageCompress: true, ...site });
  return {
    origin,
    edge,
    get: async (path, acceptEncoding, { headers = [], ...fetchOptions } = {}) => {
      const accept = acceptEncoding === undefined ? [] : ['Accept-Encoding', acceptEncoding];
      const received = await edge.get(path, { ...fetchOptions, headers: [...accept, ...headers] });
      return { ...received, coding: received.headers['content-encoding'], text: decodeBody(received) };
    },
    made: async () => {
      const metrics = await edge.registry.metrics();
      const counts = [...metrics.matchAll(/^causeway_edge_compressions_total\{[^}]*outcome="made"[^}]*\} (\d+)$/gm)];
      return counts.reduce((sum, [, count]) => sum + Number(count), 0);
    },
  };
}

/** Latin1, as it is received; of a part, or one that broke off, what came. */
function decodeBody({ status, body, headers, isWhole }: Received): string {
  const decode = DECODERS[headers['content-encoding'] ?? ''];
  if (decode === undefined || !isWhole || status !== 200 || body === '') return body;
  return decode(Buffer.from(body, 'latin1')).toString('latin1');
}

const DECODERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  br: brotliDecompressSync,
  gzip: gunzipSync,
  zstd: zstdDecompressSync,
};

/** Text that a coder makes about half as long, and not the same twice. */
export function someText(bytes: number): string {
  return randomBytes(Math.ceil(bytes / 2))
    .toString('hex')
    .slice(0, bytes);
}
