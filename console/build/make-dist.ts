/** Makes the folder `dist/`: compiled files, each also in the codings that browsers accept. It is written beside and renamed. */
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, gzip } from 'node:zlib';
import { build } from 'vite';
import { CONSOLE, VITE_OPTIONS } from './vite.ts';

const DIST = join(CONSOLE, 'dist');

/** Browsers that know `light-dark()`: all of 2024 and later. */
const BROWSERS = ['chrome123', 'edge123', 'firefox120', 'safari17.5'];

const COMPRESSED = /\.(?:css|html|js|svg)$/;

/** `stamp`: stored in the folder, to know what it was made from. Throws if the sources are wrong or nothing can be written. */
export async function makeDist(stamp: string): Promise<void> {
  process.stderr.write('Building the console …\n');
  const files = await compress(await compile());
  removeLeftovers();
  const next = `${DIST}.${process.pid}`;
  try {
    for (const [path, bytes] of [...files, ['.stamp', Buffer.from(stamp)] as const]) {
      mkdirSync(dirname(join(next, path)), { recursive: true });
      writeFileSync(join(next, path), bytes);
    }
    replaceDist(next, stamp);
  } finally {
    rmSync(next, { recursive: true, force: true });
  }
}

/** Files by their paths in `dist/`. */
type Files = ReadonlyMap<string, Uint8Array>;

async function compile(): Promise<Files> {
  process.env['NODE_ENV'] = 'production'; // whatever the caller's environment says
  const built = await build({
    ...VITE_OPTIONS,
    logLevel: 'warn',
    build: {
      write: false,
      target: BROWSERS,
      manifest: true,
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      reportCompressedSize: false,
      rollupOptions: {
        // Of libraries: marks for servers that render, and for other bundlers.
        onwarn: (warning, warn) => {
          if (warning.code !== 'MODULE_LEVEL_DIRECTIVE' && warning.code !== 'INVALID_ANNOTATION') warn(warning);
        },
      },
    },
  });
  if (!('output' in built)) throw new Error('Vite has built something other than one bundle');
  return new Map(
    built.output.map((file) => [file.fileName, Buffer.from(file.type === 'chunk' ? file.code : file.source)]),
  );
}

/** Adds `x.br` and `x.gz` for each file `x` that becomes smaller by it. */
async function compress(files: Files): Promise<Files> {
  const ways = { br: promisify(brotliCompress), gz: (bytes: Uint8Array) => promisify(gzip)(bytes, { level: 9 }) };
  const made = [...files].flatMap(([path, bytes]) =>
    COMPRESSED.test(path)
      ? Object.entries(ways).map(async ([suffix, way]) => [`${path}.${suffix}`, await way(bytes)] as const)
      : [],
  );
  const smaller = (await Promise.all(made)).filter(([path, bytes]) => {
    const plain = files.get(path.replace(/\.\w+$/, ''));
    return plain !== undefined && bytes.length < plain.length;
  });
  return new Map([...files, ...smaller]);
}

function replaceDist(next: string, stamp: string): void {
  const former = `${next}.former`;
  try {
    renameSync(DIST, former);
  } catch {
    // There is none, or another build is replacing it.
  }
  try {
    renameSync(next, DIST);
  } catch (error) {
    const found = readFileSync(join(DIST, '.stamp'), 'utf8');
    if (found !== stamp) throw error; // else another build of the same was first
  }
  rmSync(former, { recursive: true, force: true });
}

/** Removes what builds that were killed have left. */
function removeLeftovers(): void {
  for (const name of readdirSync(CONSOLE)) {
    const [, pid] = /^dist\.(\d+)/.exec(name) ?? [];
    if (pid !== undefined && !isRunning(Number(pid))) rmSync(join(CONSOLE, name), { recursive: true, force: true });
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
