/** Tells what an inherited descriptor is, from what Linux shows of this process. Node has no call for it. */
import { readFileSync, readlinkSync } from 'node:fs';
import { endianness } from 'node:os';
import { plainAddress } from './cidr.ts';
import type { ListenAddress } from './listen-address.ts';

/** Returns the address of a listening TCP socket; `undefined` if the descriptor is anything else. */
export function listeningAddressOf(descriptor: number): ListenAddress | undefined {
  const inode = inodeOf(descriptor);
  if (inode === undefined) return undefined;
  for (const table of ['tcp', 'tcp6']) {
    const address = findListening(readTable(table), inode);
    if (address !== undefined) return address;
  }
  return undefined;
}

function inodeOf(descriptor: number): string | undefined {
  try {
    return /^socket:\[(\d+)\]$/.exec(readlinkSync(`/proc/self/fd/${descriptor}`))?.[1];
  } catch {
    return undefined; // not open, or not Linux
  }
}

function readTable(name: string): string {
  try {
    return readFileSync(`/proc/self/net/${name}`, 'utf8');
  } catch {
    return ''; // a machine without IPv6
  }
}

/** `TCP_LISTEN` */
const LISTENING = '0A';

/** Finds a listening socket in a table of the form of `/proc/net/tcp`. Pure. */
function findListening(table: string, inode: string): ListenAddress | undefined {
  for (const line of table.split('\n')) {
    const columns = line.trim().split(/\s+/);
    const [, local = '', , state] = columns;
    if (state !== LISTENING || columns[9] !== inode) continue;
    const [address = '', port = ''] = local.split(':');
    const host = addressOf(address);
    return host === undefined ? undefined : { host, port: Number.parseInt(port, 16) };
  }
  return undefined;
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
