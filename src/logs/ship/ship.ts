/** Sends an ended log file to control in parts, and deletes it when control has all of them. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { unlessMissing } from '#lib/file-error.ts';
import { expandLines } from '../expand.ts';
import { formatPart } from '../report.ts';
import { groupLines, readLogPart } from './split.ts';

const compress = promisify(gzip);

export interface Shipped {
  readonly parts: number;
  readonly lines: number;
  readonly brokenLines: number;
}

/**
 * Idempotent: the same file has the same parts under the same keys. Rejects if a part was not accepted; then nothing is
 * deleted.
 */
export async function shipLog(
  directory: string,
  stem: string,
  edge: string,
  send: (part: Buffer) => Promise<void>,
): Promise<Shipped> {
  const path = join(directory, `${stem}.log`);
  // The file is missing if it was removed to make room.
  const file = await expandLines((await unlessMissing(readFile(path))) ?? Buffer.alloc(0));
  const { groups, brokenLines } = await groupLines(file);
  const shipped = { parts: 0, lines: 0, brokenLines };
  for (const group of groups) {
    const { domainId, day, hour } = group;
    const { text, lines, brokenLines: broken, firstAt, top } = await readLogPart(file, group);
    shipped.brokenLines += broken;
    if (lines === 0) continue;
    const key = { domainId, day, hour, edge, file: stem };
    await send(formatPart({ key, lines, firstAt, top, gzip: await compress(text) }));
    shipped.parts++;
    shipped.lines += lines;
  }
  await rm(path, { force: true });
  await rm(join(directory, `${stem}.done`), { force: true });
  return shipped;
}
