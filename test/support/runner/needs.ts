/**
 * What a test needs besides Node, git, npm and the tools of a minimal Debian. It declares that with `needs(…)`, skips by name
 * where it is missing, and reaches it through `obtain(…)` only, which refuses what the running test has not declared: so a
 * missing declaration fails also where everything is there. In CI (`CI=true`) something missing is a failure, not a skip.
 */
import { execFileSync, spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync, globSync, realpathSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { getTestContext, type TestOptions } from 'node:test';
import { CACHE_TESTS_FILE } from '../../conformance/suite.ts';

interface Need {
  /** What is missing, for people. */
  readonly wants: string;
  /** How it is reached: the path of a program or of data, the URL of a server. `undefined`: it is not there. */
  readonly find: () => string | undefined;
  /** What no package brings may be missing in CI too. */
  readonly isOptionalInCi?: boolean;
  /** The machine has it, not a package: it is looked for in a bare run too. */
  readonly isOfMachine?: boolean;
}

export type NeedName = keyof typeof NEEDS;
type Limits = Pick<TestOptions, 'timeout' | 'concurrency'>;
type Declaration = Limits & { readonly tags: string[]; readonly skip: string | false };

const FORMER_RELEASE = '5f1caf55f34013a27db93d713417352537cc62e5';

const NEEDS = {
  postgres: {
    wants: 'PostgreSQL: install it, or set CAUSEWAY_TEST_POSTGRES to the URL of a server',
    find: () => process.env['CAUSEWAY_TEST_POSTGRES'] || undefined,
  },
  /** The folder of the server's programs, as Debian's packages install them. */
  postgresPrograms: { wants: 'PostgreSQL installed in /usr/lib/postgresql', find: findPostgres },
  pgDump: { wants: 'the program pg_dump', find: () => findProgram('pg_dump', findPostgres()) },
  nginx: program('nginx'),
  curl: program('curl'),
  dig: program('dig'),
  delv: program('delv'),
  openssl: program('openssl'),
  pebble: program('pebble'),
  /** Chromium without windows, which takes three quarters of the processor time, or else the whole. docs/decisions/0764 */
  chromium: {
    wants: 'the program chromium-headless-shell, or chromium',
    find: () => findProgram('chromium-headless-shell') ?? findProgram('chromium'),
  },
  /** The browser that people have. */
  wholeChromium: program('chromium'),
  wrk: program('wrk'),
  goaccess: program('goaccess'),
  tshark: program('tshark'),
  ffmpeg: program('ffmpeg'),
  ffprobe: program('ffprobe'),
  text2pcap: program('text2pcap'),
  script: program('script'),
  pgrep: program('pgrep'),
  /** The library that gives a program another clock, to be named in LD_PRELOAD. */
  faketime: {
    wants: 'libfaketime',
    find: () => globSync('/usr/lib/*/faketime/libfaketime.so.1')[0],
  },
  h2load: program('h2load'),
  haproxy: program('haproxy'),
  promtool: program('promtool'),
  /** Only long tests need these, so CI does not install them: patroni and etcd-server of Debian. */
  patroni: program('patroni'),
  patronictl: program('patronictl'),
  etcd: program('etcd'),
  /** And python3 and golang-go, for clients that are generated. */
  python: program('python3'),
  go: program('go'),
  systemdAnalyze: program('systemd-analyze'),
  systemdNotify: program('systemd-notify'),
  systemdSocketActivate: program('systemd-socket-activate'),
  /** And leave to make containers, which containers often forbid. */
  buildah: { wants: 'buildah, with leave to make containers', find: once(findBuildah), isOptionalInCi: true },
  /** Perl with Debian's Net::SMPP. */
  netSmpp: { wants: 'Net::SMPP for Perl', find: once(findPerlWithSmpp) },
  /** Kannel's own carrier for its tests, from Debian's kannel-extras. */
  driveSmpp: {
    wants: 'the program drive_smpp of Kannel',
    find: () => ['/usr/lib/kannel/test/drive_smpp'].find(isExecutable),
  },
  oldNode: { wants: 'a Node older than 26 on the PATH', find: once(findOldNode), isOptionalInCi: true },
  ipv6: { wants: 'IPv6: the address ::1', find: findIpv6, isOfMachine: true },
  /** Leave to mount a file system in a name space of its own, which containers often forbid. Reached as `unshare`. */
  mounts: { wants: 'leave to mount a file system', find: once(findUnshare), isOptionalInCi: true },
  /** The program `ip`, and leave to make network namespaces, which containers often forbid. */
  namespaces: { wants: 'leave to make network namespaces', find: once(findNamespaces), isOptionalInCi: true },
  nft: program('nft'),
  /** Knot, a name server. */
  knot: program('knotd'),
  /** The module geoip of Knot, which Debian has in a package of its own. */
  knotGeoip: {
    wants: "Knot's module geoip",
    find: () => globSync('/usr/lib/*/knot/modules-*/geoip.so')[0],
  },
  /** And leave to change the root folder and to mount, as root alone has. */
  debootstrap: {
    wants: 'debootstrap, and root with leave to mount',
    find: once(findDebootstrap),
    isOptionalInCi: true,
  },
  /** The commit before edges on other machines, which a shallow clone or an archive lacks. Reached as its hash. */
  formerRelease: {
    wants: `the commit ${FORMER_RELEASE.slice(0, 8)} in the history of git`,
    find: once(findFormerRelease),
    isOptionalInCi: true,
  },
  /** The public HTTP cache tests. */
  cacheTests: {
    wants: `the data ${CACHE_TESTS_FILE}`,
    find: () => [CACHE_TESTS_FILE].find(existsSync),
    isOptionalInCi: true,
  },
} as const satisfies Readonly<Record<string, Need>>;

/** Programs that tests may run by their names: a minimal Debian has them, and what the README asks for. */
export const EVERYWHERE: readonly string[] = [
  'bash',
  'cat',
  'git',
  'id',
  'mkfifo',
  'node',
  'npm',
  'setpriv',
  'sh',
  'sleep',
];

/** True: nothing that a package brings is used, whatever the machine has. */
const isBare = process.env['CAUSEWAY_TEST_BARE'] === 'true';

/**
 * The options of a test or suite that needs all of these, for its subtests too. It is the only way to skip. Two of them are
 * never spread into one (`test/architecture.test.ts`): options beside the needs come last.
 */
export function needs(...wanted: readonly [NeedName, ...(NeedName | Limits)[]]): Declaration {
  const names = wanted.filter((its) => typeof its === 'string');
  const limits = wanted.filter((its) => typeof its !== 'string');
  const missing = names.filter((name) => find(name) === undefined);
  const reason = missing.map((name) => `needs ${NEEDS[name].wants}`).join('; ');
  const mayNotSkip = missing.some((name) => !(needOf(name).isOptionalInCi ?? false));
  if (process.env['CI'] === 'true' && !isBare && mayNotSkip)
    throw new Error(`${reason} (in CI this may not be skipped)`);
  return { ...Object.assign({}, ...limits), tags: names.map(tagOf), skip: missing.length > 0 && reason };
}

/**
 * The path or URL of something that the running test, or a suite around it, has declared; throws where it has not. A program that a test starts
 * may obtain anything: the test that starts it declares it.
 */
export function obtain(name: NeedName): string {
  const context = getTestContext();
  const isInTest = context !== undefined || /\.(test|soak)\.ts$/.test(process.argv[1] ?? '');
  // Suites have tags too, which their types do not say.
  const tags = context !== undefined && 'tags' in context ? context.tags : [];
  if (isInTest && !tags.includes(tagOf(name)))
    throw new Error(`${context?.name ?? 'this file'}: declare it with needs('${name}')`);
  const found = find(name);
  if (found === undefined) throw new Error(`needs ${NEEDS[name].wants}`);
  return found;
}

function find(name: NeedName): string | undefined {
  const need = needOf(name);
  return isBare && !(need.isOfMachine ?? false) ? undefined : need.find();
}

function needOf(name: NeedName): Need {
  return NEEDS[name];
}

/** Tags are inherited by what is inside, and compared in lower case. */
function tagOf(name: NeedName): string {
  return `needs:${name.toLowerCase()}`;
}

function program(name: string): Need {
  return { wants: `the program ${name}`, find: () => findProgram(name) };
}

/** Servers often lie in sbin, which is not on a user's PATH. `besides`: another folder to look in. */
export function findProgram(name: string, besides = '/usr/local/sbin'): string | undefined {
  const folders = [...pathFolders(), '/usr/sbin', '/usr/local/sbin', besides];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

/** The folder of the newest server's programs; `undefined`: none is installed. */
export function findPostgres(): string | undefined {
  const majorOf = (path: string) => Number(/postgresql\/(\d+)/.exec(path)?.[1]);
  const found = globSync('/usr/lib/postgresql/*/bin/initdb').sort((a, b) => majorOf(b) - majorOf(a));
  return found[0] === undefined ? undefined : dirname(found[0]);
}

function findPerlWithSmpp(): string | undefined {
  const perl = findProgram('perl');
  return perl !== undefined && spawnSync(perl, ['-MNet::SMPP', '-e', '1']).status === 0 ? perl : undefined;
}

function findUnshare(): string | undefined {
  const unshare = findProgram('unshare');
  if (unshare === undefined) return undefined;
  const tried = spawnSync(unshare, ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']);
  return tried.status === 0 ? unshare : undefined;
}

function findNamespaces(): string | undefined {
  const ip = findProgram('ip');
  if (ip === undefined) return undefined;
  const name = `causeway-test-${process.pid}-try`;
  const isMade = spawnSync(ip, ['netns', 'add', name]).status === 0;
  const canRun = isMade && spawnSync(ip, ['netns', 'exec', name, 'true']).status === 0;
  if (isMade) spawnSync(ip, ['netns', 'delete', name]);
  return canRun ? ip : undefined;
}

function findBuildah(): string | undefined {
  const buildah = findProgram('buildah');
  if (buildah === undefined) return undefined;
  const made = spawnSync(buildah, ['from', 'scratch'], { encoding: 'utf8' });
  const container = made.stdout.trim();
  const canMount = made.status === 0 && spawnSync(buildah, ['mount', container]).status === 0;
  if (made.status === 0) spawnSync(buildah, ['rm', container]);
  return canMount ? buildah : undefined;
}

function findDebootstrap(): string | undefined {
  const unshare = findProgram('unshare');
  if (process.getuid?.() !== 0 || unshare === undefined) return undefined;
  const tried = spawnSync(unshare, ['--mount', '--pid', '--fork', 'true']);
  return tried.status === 0 ? findProgram('debootstrap') : undefined;
}

function findFormerRelease(): string | undefined {
  const known = spawnSync('git', ['-C', import.meta.dirname, 'cat-file', '-e', `${FORMER_RELEASE}^{tree}`]);
  return known.status === 0 ? FORMER_RELEASE : undefined;
}

function findIpv6(): string | undefined {
  const addresses = Object.values(networkInterfaces()).flatMap((its) => its ?? []);
  return addresses.find(({ address }) => address === '::1')?.address;
}

/** Not the one of this checkout. */
function findOldNode(): string | undefined {
  return pathFolders()
    .map((folder) => join(folder, 'node'))
    .find((path) => {
      try {
        if (realpathSync(path).includes('node_modules')) return false;
        return Number.parseInt(execFileSync(path, ['-p', 'process.versions.node'], { encoding: 'utf8' }), 10) < 26;
      } catch {
        return false; // no Node there
      }
    });
}

function pathFolders(): readonly string[] {
  return (process.env['PATH'] ?? '').split(delimiter);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there or not ours to run: look on
  }
}

/** What takes a process to find out is found out once. */
function once(work: () => string | undefined): () => string | undefined {
  let done: { readonly result: string | undefined } | undefined;
  return () => {
    done ??= { result: work() };
    return done.result;
  };
}
