/** What the writer before this one lost when it was killed: a number where it had told how many requests it had, else a bound. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from '#lib/logger.ts';
import { MAX_UNTOLD, type Taken, type TakenCount } from './taken-count.ts';

export interface KilledWriterOptions {
  /** Directory of the spool. */
  readonly directory: string;
  /** Stems of files that nobody ended. */
  readonly unclosed: readonly string[];
  readonly taken: TakenCount | undefined;
  /** What it may have held back at most. */
  readonly flushMs: number;
  readonly log: Logger;
}

const KILLED = 'access log: the process writing this file was killed';
const MISSING = 'missing from the log and the statistics';

/** Says it in the service's log, and adds it to `taken`. */
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

/** `undefined`: the file that it speaks of is not there. */
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
