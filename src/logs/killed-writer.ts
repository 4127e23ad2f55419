/**
 * Reports the requests that a killed writer lost: their number if it kept a count of accepted requests, else an upper
 * bound.
 */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#lib/logger.ts';
import { MAX_UNTOLD, type Taken, type TakenCount } from './taken-count.ts';

export interface KilledWriterOptions {
  /** Directory of the spool. */
  readonly directory: string;
  /** Stems of files that were not ended. */
  readonly unclosed: readonly string[];
  readonly taken: TakenCount | undefined;
  /** Longest time for which lines wait in memory. */
  readonly flushMs: number;
  readonly log: Logger;
}

const KILLED = 'access log: the process writing this file was killed';
const MISSING = 'missing from the log and the statistics';

/** Logs the loss and adds it to `taken`. */
export async function reportKilledWriter(options: KilledWriterOptions): Promise<void> {
  const { directory, unclosed, taken, flushMs, log } = options;
  const left = taken?.left;
  const lost = left && (await countLost(directory, left));
  const isKilled = unclosed.length > 0 || (lost ?? 0) > 0;
  if (isKilled && lost !== undefined) {
    const count = lost === 0 ? `at most ${MAX_UNTOLD}` : `${lost} to ${lost + MAX_UNTOLD}`;
    log.warn({ file: left?.stem, lostRequests: lost }, `${KILLED}: ${count} requests are ${MISSING}`);
  }
  for (const file of unclosed) {
    if (lost !== undefined && file === left?.stem) continue;
    log.warn({ file }, `${KILLED}: requests of its last ${flushMs} ms may be ${MISSING}`);
  }
  taken?.settle(lost ?? 0);
}

/** Returns `undefined` if the counted file is missing. */
async function countLost(directory: string, { requests, ended, stem }: Taken): Promise<number | undefined> {
  const lines = stem === '' ? 0 : await countLines(join(directory, `${stem}.log`));
  return lines === undefined ? undefined : Math.max(0, requests - ended - lines);
}

const CHUNK_BYTES = 1024 * 1024;
const LF = 0x0a;

async function countLines(path: string): Promise<number | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
    let lines = 0;
    for (;;) {
      const { bytesRead } = await file.read(chunk);
      if (bytesRead === 0) return lines;
      const read = chunk.subarray(0, bytesRead);
      for (let at = read.indexOf(LF); at !== -1; at = read.indexOf(LF, at + 1)) lines++;
    }
  } finally {
    await file.close();
  }
}
