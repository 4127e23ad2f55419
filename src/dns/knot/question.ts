/** Asks a name server for addresses as a resolver of a client's network does, to see whether it answers as it should. */
import { randomInt } from 'node:crypto';
import { createSocket } from 'node:dgram';
import { unitsOf } from '#lib/cidr.ts';
import type { ListenAddress } from '#lib/listen-address.ts';
import { CLASS_IN, HEADER_BYTES, OPTIONS, printAddress, TYPES } from '../packet.ts';
import { MAX_UDP_BYTES, u16 } from '../response.ts';

interface FoundAddresses {
  readonly rcode: number;
  /** Addresses in the order of the answer. */
  readonly addresses: readonly string[];
}

const LIMIT_MS = 1000;

/** `network`: of the client, as its first address and its prefix. Rejects without an answer within a second. */
export async function askAddresses(
  server: ListenAddress,
  { name, type, network }: { readonly name: string; readonly type: 'A' | 'AAAA'; readonly network: string },
): Promise<FoundAddresses> {
  const id = randomInt(2 ** 16);
  const socket = createSocket(server.host.includes(':') ? 'udp6' : 'udp4');
  try {
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
    const timer = setTimeout(() => reject(new Error(`no answer for ${name} within ${LIMIT_MS} ms`)), LIMIT_MS);
    socket.on('message', (packet: Buffer) => {
      if (packet.length >= HEADER_BYTES && packet.readUInt16BE(0) === id) resolve(packet);
    });
    socket.on('error', reject);
    socket.send(writeQuestion(id, name, TYPES[type], network), server.port, server.host);
    return readAddresses(await promise.finally(() => clearTimeout(timer)));
  } finally {
    socket.close();
  }
}

function writeQuestion(id: number, name: string, type: number, network: string): Buffer {
  const [address = '', prefix = ''] = network.split('/');
  const units = unitsOf(address);
  const bytes = Buffer.from(units.flatMap((unit) => [unit >> 8, unit & 255])).subarray(
    0,
    Math.ceil(Number(prefix) / 8),
  );
  const subnet = Buffer.from([0, units.length === 2 ? 1 : 2, Number(prefix), 0, ...bytes]);
  const labels = name.split('.').map((label) => Buffer.from(`${String.fromCharCode(label.length)}${label}`, 'latin1'));
  return Buffer.concat([
    u16(id, 0, 1, 0, 0, 1),
    ...labels,
    Buffer.alloc(1),
    u16(type, CLASS_IN),
    Buffer.alloc(1),
    u16(TYPES.OPT, MAX_UDP_BYTES, 0, 0, subnet.length + 4, OPTIONS.subnet, subnet.length),
    subnet,
  ]);
}

function readAddresses(packet: Buffer): FoundAddresses {
  let at = skipName(packet, HEADER_BYTES) + 4;
  const addresses: string[] = [];
  for (let left = packet.readUInt16BE(6); left > 0; left--) {
    at = skipName(packet, at);
    const type = packet.readUInt16BE(at);
    const length = packet.readUInt16BE(at + 8);
    const data = packet.subarray(at + 10, at + 10 + length);
    if (type === TYPES.A || type === TYPES.AAAA) addresses.push(printAddress(data));
    at += 10 + length;
  }
  return { rcode: packet.readUInt16BE(2) & 15, addresses };
}

function skipName(packet: Buffer, from: number): number {
  for (let at = from; ; ) {
    const size = packet.readUInt8(at);
    if (size === 0) return at + 1;
    if (size >= 192) return at + 2;
    at += size + 1;
  }
}
