/** The files of the console as `console/build.js` has made them, read into memory once. */
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { ContentCoding } from '#http/content-coding.ts';
import { type Representation, represent } from '../representation.ts';

export interface ConsoleFile {
  readonly type: string;
  readonly plain: Representation;
  /** Smaller forms of it. */
  readonly coded: Readonly<Partial<Record<ContentCoding, Representation>>>;
}

/** Files by their paths below the folder: `index.html`, `assets/…`. */
export type ConsoleFiles = ReadonlyMap<string, ConsoleFile>;

export const INDEX = 'index.html';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
};

const CODED = /\.(?:br|gz)$/;

/** Returns `undefined` if the console is not built. */
export async function readConsoleFiles(folder: string): Promise<ConsoleFiles | undefined> {
  const bytes = await readAll(folder);
  const files = [...bytes].flatMap(([path, body]): [string, ConsoleFile][] => {
    if (CODED.test(path)) return [];
    const [br, gz] = [bytes.get(`${path}.br`), bytes.get(`${path}.gz`)];
    const type = TYPES[extname(path)] ?? 'application/octet-stream';
    const coded = { ...(br && { br: represent(br) }), ...(gz && { gzip: represent(gz) }) };
    return [[path, { type, plain: represent(body), coded }]];
  });
  return bytes.has(INDEX) ? new Map(files) : undefined;
}

/** Hidden files are the build's own. A folder that cannot be read has no files. */
async function readAll(folder: string): Promise<ReadonlyMap<string, Buffer>> {
  try {
    const entries = await readdir(folder, { recursive: true, withFileTypes: true });
    const paths = entries.filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const visible = paths.map((path) => path.slice(folder.length + 1)).filter((path) => !/(?:^|\/)\./.test(path));
    return new Map(await Promise.all(visible.map(async (path) => [path, await readFile(join(folder, path))] as const)));
  } catch {
    return new Map(); // not built, being replaced, or not ours to read
  }
}
