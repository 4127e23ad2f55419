/** A worker's buffers for bodies that wait: of requests until they are whole, of answers for clients that are slower than the origin. */
import type { Registry } from 'prom-client';
import { clientNetwork } from '#lib/cidr.ts';
import type { Logger } from '#lib/logger.ts';
import { metricsOf } from '#lib/metrics.ts';
import type { ReceivedRequest } from '../request.ts';
import { BodyBuffer } from './body-buffer.ts';
import { type BufferBudget, createBufferBudget } from './budget.ts';
import { createTemporaryFiles } from './temporary-files.ts';

export interface Buffers {
  /** `request`: whose body it is, or whose answer's. */
  open(use: 'request' | 'answer', request: Pick<ReceivedRequest, 'clientAddress'>, domainId: number): BodyBuffer;
}

export interface BuffersOptions {
  readonly maxMemoryBytes: number;
  readonly maxFiles: number;
  readonly maxAnswerBytes: number;
  /** Absent: there is memory alone. */
  readonly disk: BufferDisk | undefined;
  readonly log: Logger;
  readonly registry: Registry;
}

export interface BufferDisk {
  /** Used by the buffers alone. */
  readonly directory: string;
  readonly maxBytes: number;
}

/** Memory for one body; the rest of it goes into a file. */
const MEMORY_BYTES = { request: 64 * 1024, answer: 256 * 1024 } as const;
const REPORT_MS = 60_000;

export function createBuffers({
  disk,
  maxMemoryBytes,
  maxFiles,
  maxAnswerBytes,
  log,
  registry,
}: BuffersOptions): Buffers {
  const budget = createBufferBudget({ memoryBytes: maxMemoryBytes, fileBytes: disk?.maxBytes ?? 0, files: maxFiles });
  const files = disk && disk.maxBytes > 0 ? createTemporaryFiles(disk.directory) : undefined;
  addGauges(budget, registry);
  let reportedAt = Number.NEGATIVE_INFINITY;
  const onProblem = (error: unknown): void => {
    const now = performance.now();
    if (now - reportedAt < REPORT_MS) return;
    reportedAt = now;
    log.warn({ err: error, directory: disk?.directory }, 'cannot buffer bodies on disk');
  };
  return {
    open: (use, { clientAddress }, domainId) =>
      new BodyBuffer({
        budget,
        files,
        owner: { client: clientNetwork(clientAddress), domainId },
        memoryBytes: MEMORY_BYTES[use],
        maxFileBytes: use === 'answer' ? maxAnswerBytes : Number.POSITIVE_INFINITY,
        onProblem,
      }),
  };
}

function addGauges({ memoryBytes, fileBytes }: BufferBudget, registry: Registry): void {
  metricsOf(registry).gauges(
    'causeway_edge_buffered_bytes',
    'Bytes of buffered bodies (incomplete, or waiting for a slow client), in memory and on disk.',
    ['where'],
    () => [
      [{ where: 'memory' }, memoryBytes.taken],
      [{ where: 'disk' }, fileBytes.taken],
    ],
  );
}
