/** One ended log file to control, in parts; when all of them are there, it goes. */
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { formatPart } from '../report.ts';
import { splitLog } from './split.ts';

export interface Shipped {
  readonly parts: number;
  readonly lines: number;
  readonly brokenLines: number;
}

/**
 * The same file gives the same parts under the same keys, so it may be sent again. Rejects when a part was not taken; then
 * nothing is removed.
 */
export async function shipLog(
  directory: string,
  stem: string,
  edge: string,
  send: (part: Buffer) => Promise<void>,
): Promise<Shipped> {
  const path = join(directory, `${stem}.log`);
  const { parts, brokenLines } = await splitLog(await readIfThere(path));
  for (const { text, lines, firstAt, top, ...hour } of parts) {
    await send(
      formatPart({ key: { ...hour, edge, file: stem }, lines, firstAt, top, gzip: await promisify(gzip)(text) }),
    );
  }
  await rm(path, { force: true });
  await rm(join(directory, `${stem}.done`), { force: true });
  return { parts: parts.length, lines: parts.reduce((sum, { lines }) => sum + lines, 0), brokenLines };
}

/** Empty when there was no room for it any more. */
async function readIfThere(path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return Buffer.alloc(0);
    throw error;
  }
}
