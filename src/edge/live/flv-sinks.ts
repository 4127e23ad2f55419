/** Viewers of the hub: over HTTP/1.1 or HTTP/2, or as binary messages of a WebSocket. */
import type { Socket } from 'node:net';
import type { HubViewer } from '#fanout/encoding.ts';
import { FLV_ENCODING } from '#fanout/flv-encoding.ts';
import type { Viewer } from '../viewer.ts';
import { ClientFrames, closeFrame, dataHeader, pongFrame } from './web-socket-frames.ts';

// Classes, since object literals with accessors share no hidden class: docs/decisions/0544

export class HttpSink implements HubViewer {
  readonly encoding = FLV_ENCODING;
  readonly #viewer: Viewer;

  constructor(viewer: Viewer) {
    this.#viewer = viewer;
  }

  write(bytes: Buffer): void {
    this.#viewer.write(bytes);
  }

  get queuedBytes(): number {
    return this.#viewer.queuedBytes;
  }

  end(): void {
    void this.#viewer.end(); // never rejects; `viewer.ended` reports the end
  }

  cut(): void {
    this.#viewer.cut(503);
  }
}

/** A WebSocket viewer. Only ping and close are answered. */
export class WebSocketSink implements HubViewer {
  readonly encoding = FLV_ENCODING;
  readonly #socket: Socket;
  readonly #idleMs: number;

  /** `idleMs`: limit without progress at the end. */
  constructor(socket: Socket, idleMs: number) {
    this.#socket = socket;
    this.#idleMs = idleMs;
    const frames = new ClientFrames();
    socket.on('error', () => undefined); // 'close' follows
    socket.on('end', () => socket.destroy());
    socket.on('data', (bytes: Buffer) => {
      for (const frame of frames.push(bytes)) {
        if (frame.kind !== 'ping') this.#end(frame.kind === 'close' ? NORMAL : PROTOCOL_ERROR);
        else if (socket.writableLength < MAX_QUEUED_PONG_BYTES) socket.write(pongFrame(frame.payload));
      }
    });
    socket.resume();
  }

  write(bytes: Buffer): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    socket.cork();
    socket.write(dataHeader(bytes.length));
    socket.write(bytes);
    socket.uncork();
  }

  get queuedBytes(): number {
    return this.#socket.writableLength;
  }

  end(): void {
    this.#end(NORMAL);
  }

  #end(code: number): void {
    const socket = this.#socket;
    if (!socket.writable) return;
    socket.setTimeout(this.#idleMs, () => socket.destroy());
    socket.end(closeFrame(code));
  }

  cut(): void {
    this.#socket.destroy();
  }
}

/** Queued bytes at which pings are no longer answered: the client does not read. */
const MAX_QUEUED_PONG_BYTES = 64 * 1024;
/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
