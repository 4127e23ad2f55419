/** An origin that redirects, what it points at, and an edge that follows. */
import type { EdgeOptions } from '../../../src/edge/server.ts';
import { loopback, NO_ORIGINS, SITE_HOST, startTestEdge, type TestEdge } from './edge.ts';
import { type Answer, type ScriptedOrigin, type SeenRequest, startOrigin } from './origin.ts';

type Cleanup = { after(work: () => unknown): void };

/** Resolves to the loopback, as every name does in `startPair`. */
export const ELSEWHERE = 'elsewhere.example';

export function redirect(location: string, status = 302, headers: Readonly<Record<string, string>> = {}): Answer {
  return (_request: SeenRequest, response) => response.writeHead(status, { location, ...headers }).end('moved');
}

export function follow(edge: TestEdge, primary: ReturnType<typeof loopback>, hostHeader = ''): void {
  edge.put({ name: SITE_HOST, redirectFollow: true, origins: { ...NO_ORIGINS, primary, hostHeader } });
}

interface Pair {
  readonly edge: TestEdge;
  readonly origin: ScriptedOrigin;
  readonly target: ScriptedOrigin;
}

/** Whatever the origin is asked for, it points at `/b?c` of another host, which answers. */
export async function startPair(
  t: Cleanup,
  answer: Answer,
  headers: Readonly<Record<string, string>> = {},
  options: Partial<EdgeOptions> = {},
): Promise<Pair> {
  const target = await startOrigin(t, answer);
  const origin = await startOrigin(t, redirect(`http://${ELSEWHERE}:${target.port}/b?c`, 302, headers));
  const edge = await startTestEdge(t, [], { resolve: async () => ['127.0.0.1'], ...options });
  follow(edge, loopback([origin.port]));
  return { edge, origin, target };
}
