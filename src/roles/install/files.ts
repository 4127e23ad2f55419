/** Files of an installation: written only where they differ, and copied with modes that the service can read. */
import {
  chmodSync,
  chownSync,
  constants,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { InstalledPiece } from '#cli/command/installation.ts';

/** Writes a file unless it has this text. Its folder is made. */
export function installFile(file: string, text: string, mode = 0o644): InstalledPiece {
  const before = existsSync(file) ? readFileSync(file, 'utf8') : undefined;
  if (before === text) return { state: 'kept', what: file };
  mkdirSync(dirname(file), { recursive: true, mode: 0o755 });
  const next = `${file}.new`;
  rmSync(next, { force: true });
  writeFileSync(next, text, { flag: 'wx' }); // never through a link that somebody else has put there
  chmodSync(next, mode); // whatever the umask
  renameSync(next, file);
  return { state: before === undefined ? 'made' : 'changed', what: file };
}

/** Writes a file that belongs to the operator: only if it is missing. `owner`: absent, it stays with this user. */
export function offerFile(file: string, text: string, mode: number, owner?: FileOwner): InstalledPiece {
  if (existsSync(file)) return { state: 'kept', what: `${file} (yours)` };
  const piece = installFile(file, text, mode);
  if (owner !== undefined) chownSync(file, 0, owner.gid);
  return piece;
}

export interface FileOwner {
  readonly uid: number;
  readonly gid: number;
}

/** Makes a folder that only its owner may enter. One that is there keeps its content, and has to belong to the owner. */
export function installPrivateFolder(folder: string, { uid, gid }: FileOwner): InstalledPiece {
  const before = statSync(folder, { throwIfNoEntry: false });
  if (before !== undefined && before.uid !== uid)
    throw new Error(
      `${folder} belongs to another user (${before.uid}): chown -R ${uid}:${gid} ${folder}, and install again`,
    );
  if (before === undefined) {
    mkdirSync(folder, { recursive: true });
    chownSync(folder, uid, gid);
  }
  const isOpen = before === undefined || (before.mode & 0o077) !== 0;
  if (isOpen) chmodSync(folder, 0o700);
  return { state: before === undefined ? 'made' : isOpen ? 'changed' : 'kept', what: folder };
}

/** Makes a relative link, or turns it to another target, atomically. */
export function installLink(link: string, target: string): InstalledPiece {
  const text = relative(dirname(link), target);
  const before = lstatSync(link, { throwIfNoEntry: false });
  const what = `${link} → ${text}`;
  if (before?.isSymbolicLink() === true && readlinkSync(link) === text) return { state: 'kept', what };
  rmSync(`${link}.new`, { force: true });
  symlinkSync(text, `${link}.new`);
  renameSync(`${link}.new`, link);
  return { state: before === undefined ? 'made' : 'changed', what };
}

/** Copies a file or folder for all users to read. Links are copied as links. `accepts` gets paths below `from`. */
export function copyReadable(from: string, to: string, accepts: (path: string) => boolean): void {
  const found = lstatSync(from);
  if (found.isSymbolicLink()) symlinkSync(readlinkSync(from), to);
  else if (found.isDirectory()) copyFolder(from, to, accepts);
  else {
    copyFileSync(from, to, constants.COPYFILE_FICLONE); // without a copy of the bytes where the file system can
    chmodSync(to, (found.mode & 0o100) === 0 ? 0o644 : 0o755);
  }
}

function copyFolder(from: string, to: string, accepts: (path: string) => boolean): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755);
  for (const name of readdirSync(from)) {
    const path = join(from, name);
    if (accepts(path)) copyReadable(path, join(to, name), accepts);
  }
}

/** Lists the files below a folder, sorted; of a file, itself. */
export function listFiles(path: string, accepts: (path: string) => boolean): readonly string[] {
  if (!statSync(path).isDirectory()) return [path];
  const names = readdirSync(path).sort();
  return names.map((name) => join(path, name)).flatMap((one) => (accepts(one) ? listFiles(one, accepts) : []));
}
