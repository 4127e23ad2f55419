/** HTTP/2 as bytes, for clients that do what no library lets them do. RFC 9113 §4.1, §6; RFC 7541 §6.2.2 */
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';

export const TYPES = {
  data: 0,
  headers: 1,
  priority: 2,
  reset: 3,
  settings: 4,
  push: 5,
  ping: 6,
  goaway: 7,
  window: 8,
  more: 9,
} as const;
export const FLAGS = { ack: 1, endStream: 1, endHeaders: 4, padded: 8, priority: 32 } as const;

export const PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');

// `as`: the keys of an object literal.
const NAMES = Object.fromEntries(Object.entries(TYPES).map(([name, type]) => [type, name])) as Readonly<
  Record<number, keyof typeof TYPES>
>;

export function frame(
  type: keyof typeof TYPES,
  flags: number,
  stream: number,
  payload: Buffer = Buffer.alloc(0),
): Buffer {
  return frameOfType(TYPES[type], flags, stream, payload);
}

/** Builds a frame of any type, even an unknown one. */
export function frameOfType(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** Each a literal that is not put into the table. Values below 127 bytes. */
export function fields(...pairs: readonly (readonly [name: string, value: string])[]): Buffer {
  return Buffer.concat(
    pairs.map(([name, value]) =>
      Buffer.concat([
        Buffer.from([0, name.length]),
        Buffer.from(name),
        Buffer.from([value.length]),
        Buffer.from(value),
      ]),
    ),
  );
}

export function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(value);
  return bytes;
}

export interface ReceivedFrame {
  readonly type: keyof typeof TYPES | 'unknown';
  readonly flags: number;
  readonly stream: number;
  readonly payload: Buffer;
}

export interface FrameClient {
  readonly socket: TLSSocket;
  /** Writes while the connection stands and takes it. */
  send(bytes: Buffer): Promise<void>;
  readonly isClosed: boolean;
  readonly closed: Promise<void>;
  /** Error code of the server's GOAWAY, if there was one. */
  readonly goaway: number | undefined;
  /** Error codes of the streams that the server reset. */
  readonly resets: readonly number[];
  /** All that came. */
  readonly frames: readonly ReceivedFrame[];
}

/** Has said its preface and `settings`, or what stands in their place. */
export async function connectFrames(
  port: number,
  servername: string,
  settings = Buffer.alloc(0),
  beginning: Buffer = Buffer.concat([PREFACE, frame('settings', 0, 0, settings)]),
): Promise<FrameClient> {
  const socket = connect({ port, host: '127.0.0.1', servername, ALPNProtocols: ['h2'], rejectUnauthorized: false });
  socket.on('error', () => undefined); // shows as closed
  await once(socket, 'secureConnect');
  const seen: { goaway: number | undefined; resets: number[]; frames: ReceivedFrame[] } = {
    goaway: undefined,
    resets: [],
    frames: [],
  };
  let bytes = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    bytes = Buffer.concat([bytes, chunk]);
    while (bytes.length >= 9 && bytes.length >= 9 + bytes.readUIntBE(0, 3)) {
      const payload = bytes.subarray(9, 9 + bytes.readUIntBE(0, 3));
      seen.frames.push({
        type: NAMES[bytes[3] ?? -1] ?? 'unknown',
        flags: bytes[4] ?? 0,
        stream: bytes.readUInt32BE(5),
        payload,
      });
      if (bytes[3] === TYPES.goaway) seen.goaway = payload.readUInt32BE(4);
      if (bytes[3] === TYPES.reset) seen.resets.push(payload.readUInt32BE(0));
      bytes = bytes.subarray(9 + payload.length);
    }
  });
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()));
  socket.write(beginning);
  return {
    socket,
    send: async (next) => {
      if (!socket.writable || socket.write(next)) return;
      await Promise.race([closed, once(socket, 'drain')]);
    },
    get isClosed() {
      return socket.closed;
    },
    closed,
    get goaway() {
      return seen.goaway;
    },
    get resets() {
      return seen.resets;
    },
    get frames() {
      return seen.frames;
    },
  };
}
