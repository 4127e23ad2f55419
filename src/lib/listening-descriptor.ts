/** Tells what listening sockets there are, from what Linux shows of this machine. Node has no call for it. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { plainAddress } from './cidr.ts';
import type { ListenAddress } from './listen-address.ts';

/** Returns the address of a listening TCP socket; `undefined` if the descriptor is anything else. */
export function listeningAddressOf(descriptor: number): ListenAddress | undefined {
  const inode = inodeOf(`/proc/self/fd/${descriptor}`);
  return inode === undefined ? undefined : listListening().find((socket) => socket.inode === inode)?.address;
}

/** A process that has a listening socket. */
interface PortOwner {
  readonly pid: number;
  /** Name of its program, at most 15 characters. */
  readonly program: string;
}

/**
 * Finds a process that listens on a TCP port, at whatever address. `undefined` if there is none, or if it belongs to
 * another user, whose descriptors only root may see.
 */
export function findPortOwner(port: number): PortOwner | undefined {
  const inodes = listListening().flatMap(({ inode, address }) => (address.port === port ? [inode] : []));
  if (inodes.length === 0) return undefined;
  const pids = listFolder('/proc').filter((name) => /^\d+$/.test(name));
  const pid = pids.find((one) =>
    listFolder(`/proc/${one}/fd`).some((name) => inodes.includes(inodeOf(`/proc/${one}/fd/${name}`) ?? '')),
  );
  return pid === undefined ? undefined : { pid: Number(pid), program: readIfThere(`/proc/${pid}/comm`).trim() };
}

function listFolder(path: string): readonly string[] {
  try {
    return readdirSync(path);
  } catch {
    return []; // the process has ended, or belongs to another user
  }
}

/** `link`: a descriptor below `/proc`. */
function inodeOf(link: string): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(link))?.[1];
  } catch {
    return undefined; // not open, or not Linux
  }
}

interface ListeningSocket {
  readonly inode: string;
  readonly address: ListenAddress;
}

function listListening(): readonly ListeningSocket[] {
  return ['tcp', 'tcp6'].flatMap((table) => parseListening(readIfThere(`/proc/self/net/${table}`)));
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return ''; // a machine without IPv6, or a process that has ended
  }
}

/** `TCP_LISTEN` */
const LISTENING = '0A';

/** Reads the listening sockets of a table of the form of `/proc/net/tcp`. Pure. */
function parseListening(table: string): readonly ListeningSocket[] {
  return table.split('\n').flatMap((line) => {
    const columns = line.trim().split(/\s+/);
    const [, local = '', , state] = columns;
    const [address = '', port = ''] = local.split(':');
    const host = state === LISTENING ? addressOf(address) : undefined;
    return host === undefined ? [] : [{ inode: columns[9] ?? '', address: { host, port: Number.parseInt(port, 16) } }];
  });
}

/** Reads an address as Linux prints it: words of 32 bits in the machine's own byte order. */
function addressOf(hex: string): string | undefined {
  const words = (hex.match(/.{8}/g) ?? []).map((word) => {
    const bytes = Buffer.from(word, 'hex');
    return endianness() === 'LE' ? bytes.reverse() : bytes;
  });
  const bytes = Buffer.concat(words);
  if (bytes.length === 4) return bytes.join('.');
  if (bytes.length !== 16) return undefined;
  return plainAddress((bytes.toString('hex').match(/.{4}/g) ?? []).join(':'));
}
