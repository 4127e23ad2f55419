/** A scripted RTMP client: publishes and plays as it is told, and misbehaves as it is told. Nothing is sent by itself but the handshake. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { MediaMessage } from '#fanout/media/message.ts';
import { type AmfObject, type AmfValue, decodeAmf0, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { ChunkReader, LIMITS_AFTER } from '#live/rtmp/chunk-reader.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import { HANDSHAKE_END_BYTES, HANDSHAKE_START_BYTES, type HandshakeSchema } from '#live/rtmp/handshake.ts';
import { controlMessage, MESSAGE_TYPE, type RtmpMessage } from '#live/rtmp/messages.ts';
import { eventually } from '../eventually.ts';
import { beginHandshake, endHandshake } from './rtmp-handshake.ts';

export interface RtmpClientOptions {
  readonly port: number;
  /** The client's own; 127.0.0.1 when absent. */
  readonly from?: string;
  /** RTMPS, with this name and authority. */
  readonly tls?: { readonly serverName: string; readonly ca: string };
  /** The complex handshake; the simple one when absent. */
  readonly schema?: HandshakeSchema;
  /** Sent before everything else: a header of the PROXY protocol. */
  readonly preamble?: Buffer;
}

/** What a server says about a stream. */
export interface RtmpStatusInfo {
  readonly level: string;
  readonly code: string;
  readonly description: string;
}

/** A client's own chunks: larger than the first default, smaller than most key frames. */
const CHUNK_BYTES = 4096;

export class RtmpClient implements AsyncDisposable {
  readonly socket: Socket;
  /** Messages that a player has received, without the empty ones. */
  readonly media: MediaMessage[] = [];
  /** All that has come, in order. */
  readonly messages: RtmpMessage[] = [];
  readonly commands: (readonly AmfValue[])[] = [];
  /** The server ended its side, or the connection. */
  hasEnded = false;
  isClosed = false;
  /** The connection ended by a reset. */
  isReset = false;
  streamId = 0;
  readonly #reader = new ChunkReader();
  #transaction = 1;

  private constructor(socket: Socket) {
    this.socket = socket;
    this.#reader.limits = LIMITS_AFTER;
    socket.on('error', (error) => {
      this.isReset ||= 'code' in error && error.code === 'ECONNRESET';
    });
    socket.on('end', () => {
      this.hasEnded = true;
    });
    socket.on('close', () => {
      this.hasEnded = true;
      this.isClosed = true;
    });
  }

  /** Connects and shakes hands. The client does not close its side when the server does. */
  static async open(options: RtmpClientOptions): Promise<RtmpClient> {
    const client = new RtmpClient(await openSocket(options));
    await client.#shakeHands(options.schema);
    return client;
  }

  /** Connects, and has `connect` and `createStream` answered. */
  static async openStream(options: RtmpClientOptions & RtmpPlace): Promise<RtmpClient> {
    const client = await RtmpClient.open(options);
    await client.connect(options);
    await client.createStream();
    return client;
  }

  async connect({ app, host = '127.0.0.1', ...fields }: RtmpPlace): Promise<readonly AmfValue[]> {
    const { remotePort } = this.socket;
    this.sendMessage(controlMessage('setChunkSize', CHUNK_BYTES), { chunkBytes: 128 });
    const argument = { app, tcUrl: `rtmp://${host}:${remotePort}/${app}`, flashVer: 'test/1.0', ...fields.connect };
    return await this.call('connect', 0, argument);
  }

  async createStream(): Promise<number> {
    const [, , , id] = await this.call('createStream', 0, null);
    this.streamId = typeof id === 'number' ? id : 0;
    return this.streamId;
  }

  /** `name`: with its query, if any. Gives what the server says. */
  async publish(name: string): Promise<RtmpStatusInfo> {
    return await this.#ask('publish', name, 'live');
  }

  /** Gives the last of what the server says: `NetStream.Play.Start`, or an error. */
  async play(name: string): Promise<RtmpStatusInfo> {
    const first = await this.#ask('play', name);
    if (first.code !== 'NetStream.Play.Reset') return first;
    return await eventually('NetStream.Play.Start', () => this.statuses.find(({ code }) => code.endsWith('.Start')));
  }

  send(message: MediaMessage): void {
    const { kind, timestampMs, data } = message;
    const payload = kind === 'data' ? Buffer.concat([SET_DATA_FRAME, data]) : data;
    this.sendMessage({ type: MESSAGE_TYPE[kind], timestamp: timestampMs, streamId: this.streamId, payload });
  }

  sendMessage(message: RtmpMessage, { chunkBytes = CHUNK_BYTES } = {}): void {
    this.socket.write(writeMessage(message, message.type === MESSAGE_TYPE.command ? 3 : 4, chunkBytes));
  }

  sendCommand(streamId: number, ...values: readonly AmfValue[]): void {
    this.sendMessage({ type: MESSAGE_TYPE.command, timestamp: 0, streamId, payload: encodeAmf0(...values) });
  }

  /** Gives the whole answer, `_result` or `_error`. */
  async call(name: string, streamId: number, ...values: readonly AmfValue[]): Promise<readonly AmfValue[]> {
    const transaction = this.#transaction++;
    this.sendCommand(streamId, name, transaction, ...values);
    return await this.#awaited(`an answer to ${name}`, () =>
      this.commands.find(([kind, id]) => (kind === '_result' || kind === '_error') && id === transaction),
    );
  }

  /** Unpublishes as encoders do at their end. */
  unpublish(name: string): void {
    this.sendCommand(0, 'FCUnpublish', this.#transaction++, null, name);
    this.sendCommand(0, 'deleteStream', this.#transaction++, null, this.streamId);
  }

  get statuses(): RtmpStatusInfo[] {
    return this.commands.filter(([name]) => name === 'onStatus').map(([, , , info]) => statusOf(info));
  }

  /** Breaks the link: the server gets a reset. */
  break(): void {
    this.socket.resetAndDestroy();
  }

  /** Waits for the server's end of the connection. */
  async ended(): Promise<void> {
    if (!this.hasEnded) await eventually('the end of the connection', () => this.hasEnded);
  }

  async closed(): Promise<void> {
    if (!this.isClosed) await once(this.socket, 'close');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.socket.destroy();
    await this.closed();
  }

  async #ask(command: 'publish' | 'play', ...values: readonly AmfValue[]): Promise<RtmpStatusInfo> {
    const before = this.statuses.length;
    this.sendCommand(this.streamId, command, this.#transaction++, null, ...values);
    return await this.#awaited(`an answer to ${command}`, () => this.statuses[before]);
  }

  /** What has come when the server ends the connection counts; after that nothing comes, and nobody waits for it. */
  async #awaited<T extends object>(what: string, find: () => T | undefined): Promise<T> {
    const found = await eventually(what, () => find() ?? (this.hasEnded ? 'ended' : undefined));
    if (found === 'ended') throw new Error(`the server ended the connection before ${what}`);
    return found;
  }

  async #shakeHands(schema: HandshakeSchema | undefined): Promise<void> {
    const start = beginHandshake(randomBytes(HANDSHAKE_END_BYTES), schema);
    this.socket.write(start);
    const answer = await this.#read(HANDSHAKE_START_BYTES + HANDSHAKE_END_BYTES);
    const end = endHandshake(start, answer, randomBytes(HANDSHAKE_END_BYTES), schema);
    if (end === undefined) throw new Error('the server does not sign its handshake');
    this.socket.write(end);
    this.socket.on('data', (bytes: Buffer) => this.#take(bytes));
  }

  async #read(size: number): Promise<Buffer> {
    return await this.#awaited(`${size} bytes of handshake`, () => {
      const bytes: unknown = this.socket.read(size);
      return Buffer.isBuffer(bytes) ? bytes : undefined;
    });
  }

  #take(bytes: Buffer): void {
    this.#reader.push(bytes);
    for (let message = this.#reader.next(); message !== undefined; message = this.#reader.next()) {
      this.messages.push(message);
      const kind = KINDS.find((one) => MESSAGE_TYPE[one] === message.type);
      if (kind !== undefined) this.media.push({ kind, timestampMs: message.timestamp, data: message.payload });
      if (message.type === MESSAGE_TYPE.command) this.commands.push(decodeAmf0(message.payload));
    }
  }
}

export interface RtmpPlace {
  readonly app: string;
  /** Host in the connection's URL. */
  readonly host?: string;
  /** More fields of `connect`. */
  readonly connect?: AmfObject;
}

const KINDS = ['audio', 'video', 'data'] as const;
const SET_DATA_FRAME = encodeAmf0('@setDataFrame');

function statusOf(info: AmfValue): RtmpStatusInfo {
  const fields = Object(info);
  return { level: String(fields.level), code: String(fields.code), description: String(fields.description) };
}

async function openSocket({ port, from = '127.0.0.1', tls, preamble }: RtmpClientOptions): Promise<Socket> {
  const raw = connectTcp({ port, host: '127.0.0.1', localAddress: from, allowHalfOpen: true, noDelay: true });
  await once(raw, 'connect');
  if (preamble !== undefined) raw.write(preamble);
  if (tls === undefined) return raw;
  const socket = connectTls({ socket: raw, servername: tls.serverName, ca: tls.ca });
  await once(socket, 'secureConnect');
  return socket;
}

/** A small stream: metadata, sequence headers of H.264 and AAC, then video and audio by turns. Not decodable. */
export function sampleMessages(count: number, startMs = 0): MediaMessage[] {
  const heads: MediaMessage[] = [
    { kind: 'data', timestampMs: startMs, data: encodeAmf0('onMetaData', { width: 16, height: 16 }) },
    { kind: 'video', timestampMs: startMs, data: Buffer.from('17000000000142c01effe100', 'hex') },
    { kind: 'audio', timestampMs: startMs, data: Buffer.from('af001210', 'hex') },
  ];
  const frames = Array.from({ length: count }, (_, index): MediaMessage => {
    const timestampMs = startMs + index * 20;
    const isKey = index % 50 === 0;
    if (index % 2 === 1) return { kind: 'audio', timestampMs, data: Buffer.from([0xaf, 1, index & 0xff]) };
    const head = Buffer.from([isKey ? 0x17 : 0x27, 1, 0, 0, 0]);
    return { kind: 'video', timestampMs, data: Buffer.concat([head, Buffer.alloc(isKey ? 9000 : 900, index)]) };
  });
  return [...heads, ...frames];
}
