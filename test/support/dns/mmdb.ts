/** Writes a small GeoIP database in the format of MaxMind (MMDB 2.0), with the places of IPv4 networks. */
import { firstUnits, parseNetworks } from '../../../src/lib/cidr.ts';

type Value = string | number | { readonly [key: string]: Value } | readonly Value[];
type Place = readonly [latitude: number, longitude: number];
type Node = [Node | Value | undefined, Node | Value | undefined];

const SEPARATOR_BYTES = 16;
const METADATA_MARK = Buffer.concat([Buffer.from([0xab, 0xcd, 0xef]), Buffer.from('MaxMind.com')]);

export function writeMmdb(places: Readonly<Record<string, Place>>): Buffer {
  const root: Node = [undefined, undefined];
  const data: Buffer[] = [];
  let dataBytes = 0;
  for (const [text, [latitude, longitude]] of Object.entries(places)) {
    const offset = dataBytes;
    const bytes = encode({ location: { latitude, longitude } });
    data.push(bytes);
    dataBytes += bytes.length;
    insert(root, bitsOf(text), offset);
  }
  const nodes: Node[] = [];
  number(root, nodes);
  const tree = Buffer.alloc(nodes.length * 6);
  for (const [index, node] of nodes.entries())
    for (const side of [0, 1] as const) tree.writeUIntBE(pointerOf(node[side], nodes), index * 6 + side * 3, 3);
  const metadata = encode({
    node_count: nodes.length,
    record_size: 24,
    ip_version: 4,
    database_type: 'Test-City',
    languages: [],
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    build_epoch: 0,
    description: {},
  });
  return Buffer.concat([tree, Buffer.alloc(SEPARATOR_BYTES), ...data, METADATA_MARK, metadata]);
}

function bitsOf(text: string): readonly number[] {
  const [network] = parseNetworks([text]);
  if (network?.family !== 'ipv4') throw new Error(`not an IPv4 network: ${text}`);
  const bits = firstUnits(network).map((unit) => unit.toString(2).padStart(16, '0'));
  return [...bits.join('')].slice(0, network.prefix).map(Number);
}

function insert(root: Node, bits: readonly number[], offset: number): void {
  let node = root;
  for (const [index, bit] of bits.entries()) {
    const side = bit === 0 ? 0 : 1;
    if (index === bits.length - 1) node[side] = offset;
    else {
      const next = node[side];
      const below: Node = Array.isArray(next) ? (next as Node) : [undefined, undefined];
      node[side] = below;
      node = below;
    }
  }
}

function number(node: Node, nodes: Node[]): void {
  nodes.push(node);
  for (const side of node) if (Array.isArray(side)) number(side as Node, nodes);
}

/** A record: the number of a node, the number of nodes for nothing, or beyond that a place in the data. */
function pointerOf(side: Node[number], nodes: readonly Node[]): number {
  if (side === undefined) return nodes.length;
  if (typeof side === 'number') return nodes.length + SEPARATOR_BYTES + side;
  return nodes.indexOf(side as Node);
}

/** Texts shorter than 285 bytes; numbers that are not whole as doubles, others as uint32. */
function encode(value: Value): Buffer {
  if (typeof value === 'string') return Buffer.concat([control(2, Buffer.byteLength(value)), Buffer.from(value)]);
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 1000) {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([control(6, 4), bytes]);
  }
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleBE(value);
    return Buffer.concat([control(3, 8), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([control(11, value.length), ...value.map(encode)]);
  const members = Object.entries(value);
  return Buffer.concat([control(7, members.length), ...members.flatMap(([key, its]) => [encode(key), encode(its)])]);
}

function control(type: number, size: number): Buffer {
  const [short, more] = size < 29 ? [size, []] : [29, [size - 29]];
  return type <= 7 ? Buffer.from([(type << 5) | short, ...more]) : Buffer.from([short, type - 7, ...more]);
}
