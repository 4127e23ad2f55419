/** Reads what the metrics say of this machine's processes: the supervisor collects them from all of them. docs/decisions/0682 */
import { request } from 'undici';
import { isHealthMetric, type OwnMetrics } from '#api/wire/wire-health.ts';
import type { Clock } from '#lib/clock.ts';
import { type ListenAddress, reachableHost } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { readMetricText } from '#lib/metric-text.ts';

/** Time for the answer: the supervisor waits a second for its processes. */
const LIMIT_MS = 4_000;
/** Bytes of an answer that are read. */
const MAX_BYTES = 64 * 1024 * 1024;
/** Time for which an answer is good, so that several who look at once cost no more than one. */
const KEEP_MS = 5_000;

interface Options {
  readonly listen: ListenAddress;
  /** Only goes forward. */
  readonly clock: Clock;
  readonly now: Clock;
  readonly log: Logger;
}

/** Never rejects; `undefined` if the service does not answer. */
export function createReadMetrics({ listen, clock, now, log }: Options): () => Promise<OwnMetrics | undefined> {
  const { host, port } = { ...listen, host: reachableHost(listen.host) };
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}/metrics`;
  let last: { readonly at: number; readonly metrics: Promise<OwnMetrics | undefined> } | undefined;
  const read = async (): Promise<OwnMetrics | undefined> => {
    try {
      const at = now();
      const limit = AbortSignal.timeout(LIMIT_MS);
      const { statusCode, body } = await request(url, { signal: limit, headersTimeout: LIMIT_MS });
      const text = await readText(body);
      return statusCode === 200 ? { at, samples: readMetricText(text, isHealthMetric) } : undefined;
    } catch (error) {
      log.warn({ err: error }, 'cannot read the metrics of this machine');
      return undefined;
    }
  };
  return () => {
    const at = clock();
    if (last === undefined || at - last.at >= KEEP_MS) last = { at, metrics: read() };
    return last.metrics;
  };
}

async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw new Error(`the metrics have more than ${MAX_BYTES} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
