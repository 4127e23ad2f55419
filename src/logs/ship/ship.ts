/** Sends an ended log file to control in parts, and deletes it when control has all of them. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { unlessMissing } from '#lib/file-error.ts';
import { expandLines } from '../expand.ts';
import type { LogPart } from '../report.ts';
import { MAX_PARTS_AT_ONCE } from '../upload-messages.ts';
import { groupLines, readLogPart } from './split.ts';

const compress = promisify(gzip);

/** Compressed bytes that are collected before they are sent. */
const MAX_BYTES_AT_ONCE = 8 * 1024 * 1024;

export interface Shipped {
  readonly parts: number;
  readonly lines: number;
  readonly brokenLines: number;
}

export interface Shipping {
  /** Sends some parts, at most `MAX_PARTS_AT_ONCE`. */
  readonly send: (parts: readonly LogPart[]) => Promise<void>;
  /** Called when control has all parts of the file. */
  readonly beforeDeletion: (stem: string) => Promise<void>;
}

/**
 * Idempotent: the same file has the same parts under the same keys. Rejects if a part was not accepted; then nothing is
 * deleted.
 */
export async function shipLog(
  directory: string,
  stem: string,
  edge: string,
  { send, beforeDeletion }: Shipping,
): Promise<Shipped> {
  const path = join(directory, `${stem}.log`);
  // The file is missing if it was removed to make room.
  const file = await expandLines((await unlessMissing(readFile(path))) ?? Buffer.alloc(0));
  const { groups, brokenLines } = await groupLines(file);
  const shipped = { parts: 0, lines: 0, brokenLines };
  const parts: LogPart[] = [];
  for (const group of groups) {
    const { domainId, day, hour } = group;
    const { text, lines, brokenLines: broken, firstAt, top } = await readLogPart(file, group);
    shipped.brokenLines += broken;
    if (lines === 0) continue;
    const key = { domainId, day, hour, edge, file: stem };
    parts.push({ key, lines, firstAt, top, gzip: await compress(text) });
    shipped.parts++;
    shipped.lines += lines;
    if (parts.length === MAX_PARTS_AT_ONCE || bytesOf(parts) >= MAX_BYTES_AT_ONCE) await send(parts.splice(0));
  }
  if (parts.length > 0) await send(parts);
  await beforeDeletion(stem);
  await rm(path, { force: true });
  await rm(join(directory, `${stem}.done`), { force: true });
  return shipped;
}

function bytesOf(parts: readonly LogPart[]): number {
  return parts.reduce((sum, { gzip: bytes }) => sum + bytes.length, 0);
}
