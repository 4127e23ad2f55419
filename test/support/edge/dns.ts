/** A name server for tests, on a real UDP socket, that says what a test wants about each name. */
import { createSocket, type RemoteInfo } from 'node:dgram';
import type { TestContext } from 'node:test';

export interface Zone {
  readonly a?: readonly string[];
  /** Written out in full: eight groups. */
  readonly aaaa?: readonly string[];
  readonly ttl?: number;
}

/** `silent`: never answered; `fails`: SERVFAIL; `undefined`: NXDOMAIN. */
export type Zones = Record<string, Zone | 'silent' | 'fails' | undefined>;

export interface TestDns {
  /** `127.0.0.1:port`. */
  readonly server: string;
  /** Names as they were asked for, `name A` or `name AAAA`. */
  readonly asked: string[];
}

const TYPES = new Map([
  [1, 'A'],
  [28, 'AAAA'],
]);

/** `zones` may be changed while it runs. */
export async function startDns(t: Pick<TestContext, 'after'>, zones: Zones): Promise<TestDns> {
  const socket = createSocket('udp4');
  const asked: string[] = [];
  socket.on('message', (query: Buffer, from: RemoteInfo) => {
    const { name, type, end } = readQuestion(query);
    asked.push(`${name} ${type}`);
    const zone = zones[name];
    if (zone !== 'silent') socket.send(answer(query.subarray(0, end), zone, type), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await new Promise((resolve) => socket.once('listening', resolve));
  t.after(() => new Promise<void>((resolve) => socket.close(() => resolve())));
  return { server: `127.0.0.1:${socket.address().port}`, asked };
}

/** RFC 1035 §4.1.2 */
function readQuestion(query: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = query[at] ?? 0; length > 0; length = query[at] ?? 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length));
    at += length + 1;
  }
  return { name: labels.join('.').toLowerCase(), type: TYPES.get(query.readUInt16BE(at + 1)) ?? '?', end: at + 5 };
}

/** RFC 1035 §4.1.1, §4.1.3 */
function answer(question: Buffer, zone: Zone | 'fails' | undefined, type: string): Buffer {
  const code = zone === 'fails' ? 2 : zone === undefined ? 3 : 0;
  const { a = [], aaaa = [], ttl = 60 } = typeof zone === 'object' ? zone : {};
  const records = type === 'A' ? a.map(v4Bytes) : aaaa.map(v6Bytes);
  const head = Buffer.from(question.subarray(0, 12));
  head.writeUInt16BE(0x8180 | code, 2); // an answer, recursion desired and available
  head.writeUInt16BE(records.length, 6);
  head.writeUInt32BE(0, 8); // nothing more
  const lines = records.map((data) => {
    const line = Buffer.alloc(12);
    line.writeUInt16BE(0xc00c, 0); // the question's name
    line.writeUInt16BE(type === 'A' ? 1 : 28, 2);
    line.writeUInt16BE(1, 4);
    line.writeUInt32BE(ttl, 6);
    line.writeUInt16BE(data.length, 10);
    return Buffer.concat([line, data]);
  });
  return Buffer.concat([head, question.subarray(12), ...lines]);
}

function v4Bytes(address: string): Buffer {
  return Buffer.from(address.split('.').map(Number));
}

function v6Bytes(address: string): Buffer {
  return Buffer.from(
    address.split(':').flatMap((group) => [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 0xff]),
  );
}
