/**
 * The only way a test may skip: it names what is missing. In CI (`CI=true`) a missing program is a failure, not a skip;
 * only leave to mount a file system, and data from outside the repository, may be absent there.
 */
import { spawnSync } from 'node:child_process';
import { accessSync, constants, existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { delimiter, join } from 'node:path';

type Skip = { readonly skip: string } | { readonly skip: false };

/** Options for `test()`/`describe()`: runs when the URL of a PostgreSQL server is set, else skips by name. */
export function needsPostgres(): Skip {
  return need(postgresUrl() !== undefined, 'needs PostgreSQL: set CAUSEWAY_TEST_POSTGRES to the URL of a server');
}

export function needsNginx(): Skip {
  return needsProgram('nginx');
}

export function needsProgram(name: string): Skip {
  return need(findProgram(name) !== undefined, `needs the program ${name}`);
}

/** Perl with Debian's Net::SMPP, for `startSmsc`. */
export function needsNetSmpp(): Skip {
  const isThere = spawnSync('perl', ['-MNet::SMPP', '-e', '1']).status === 0;
  return need(isThere, 'needs Net::SMPP for Perl');
}

/** Kannel's own carrier for its tests, from Debian's kannel-extras. */
export const DRIVE_SMPP = '/usr/lib/kannel/test/drive_smpp';

export function needsDriveSmpp(): Skip {
  return need(isExecutable(DRIVE_SMPP), `needs the program ${DRIVE_SMPP}`);
}

export function needsIpv6(): Skip {
  const addresses = Object.values(networkInterfaces()).flatMap((its) => its ?? []);
  return need(
    addresses.some(({ address }) => address === '::1'),
    'needs IPv6: the address ::1',
  );
}

/** For data that lies outside the repository; may skip in CI too. */
export function needsData(path: string): Skip {
  return existsSync(path) ? { skip: false } : { skip: `needs the data ${path}` };
}

/** For a test that mounts a file system of its own; containers often forbid that, so it may skip in CI too. */
export function canMount(): Skip {
  const unshare = findProgram('unshare');
  const canDo =
    unshare !== undefined && spawnSync(unshare, ['-rm', 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).status === 0;
  return canDo ? { skip: false } : { skip: 'needs leave to mount a file system in a name space of its own' };
}

export function postgresUrl(): string | undefined {
  return process.env['CAUSEWAY_TEST_POSTGRES'] || undefined;
}

/** Full path of a program; servers often lie in sbin, which is not on a user's PATH. */
export function findProgram(name: string): string | undefined {
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin'];
  return folders.map((folder) => join(folder, name)).find(isExecutable);
}

function need(isThere: boolean, reason: string): Skip {
  if (isThere) return { skip: false };
  if (process.env['CI'] === 'true') throw new Error(`${reason} (in CI this may not be skipped)`);
  return { skip: reason };
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false; // not there or not ours to run: look on
  }
}
