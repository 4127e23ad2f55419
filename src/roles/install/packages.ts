/** The packages that an installed release runs with: those of npm, without what only tests or the build of the console need. */
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** npm's list of packages, with a checksum of each. */
export const PACKAGES = 'package-lock.json';

/** Packages that only the console imports, and what builds it. A release has the console as it was built. */
export const CONSOLE_PACKAGES: readonly string[] = [
  '@base-ui/react',
  '@tanstack/react-query',
  'hls.js',
  'mpegts.js',
  'react',
  'react-dom',
  'uplot',
  'uqr',
  'vite',
  'wouter',
];

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly dependencies?: Names;
  readonly optionalDependencies?: Names;
  readonly peerDependencies?: Names;
}

type Names = Readonly<Record<string, string>>;
/** Packages by their folders below the checkout; the checkout itself is the empty one. */
type Locked = Readonly<Record<string, LockedPackage>>;

/** Returns the folders of the packages; those within another one come with it. Throws if npm has not installed one. */
export function packagesOf(source: string): readonly string[] {
  // Written by npm: version 3 of the format.
  const { packages } = JSON.parse(readFileSync(join(source, PACKAGES), 'utf8')) as { readonly packages: Locked };
  const isOfConsoleAlone = consoleAlone(packages);
  return Object.entries(packages).flatMap(([path, { dev = false, optional = false }]) => {
    if (dev || path.lastIndexOf('node_modules/') !== 0 || isOfConsoleAlone(path)) return [];
    if (existsSync(join(source, path))) return [path];
    if (optional) return []; // of another kind of machine
    throw new Error(`${join(source, path)} is missing: run "npm ci" in ${source}`);
  });
}

function consoleAlone(packages: Locked): (path: string) => boolean {
  const all = namesNeededBy(packages['']);
  const isOfConsole = (name: string) => CONSOLE_PACKAGES.includes(name);
  const [ofConsole, ofService] = [all.filter(isOfConsole), all.filter((name) => !isOfConsole(name))].map((names) =>
    reachable(names, packages),
  );
  return (path) => ofConsole?.has(path) === true && ofService?.has(path) === false;
}

function reachable(names: readonly string[], packages: Locked): ReadonlySet<string> {
  const reached = new Set<string>();
  const visit = (from: string, wanted: readonly string[]) => {
    for (const name of wanted) {
      const path = findPackage(from, name, packages);
      if (path === undefined || reached.has(path)) continue;
      reached.add(path);
      visit(path, namesNeededBy(packages[path]));
    }
  };
  visit('', names);
  return reached;
}

function namesNeededBy({ dependencies, optionalDependencies, peerDependencies }: LockedPackage = {}): string[] {
  return Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies });
}

/** Where Node finds a package that one in the folder `from` imports; `undefined`: it is not installed. */
function findPackage(from: string, name: string, packages: Locked): string | undefined {
  for (let folder = from; ; folder = dirname(folder)) {
    const path = join(folder, 'node_modules', name);
    if (path in packages) return path;
    if (folder === '' || folder === '.') return undefined;
  }
}
