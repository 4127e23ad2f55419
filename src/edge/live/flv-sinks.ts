/** Viewers of the hub: over HTTP/1.1 or HTTP/2, or as binary messages of a WebSocket. */
import type { Socket } from 'node:net';
import type { HubViewer } from '#fanout/encoding.ts';
import { FLV_ENCODING } from '#fanout/flv-encoding.ts';
import type { Viewer } from '../viewer.ts';
import { ClientFrames, closeFrame, dataHeader, pongFrame } from './web-socket-frames.ts';

export function createHttpSink(viewer: Viewer): HubViewer {
  return {
    encoding: FLV_ENCODING,
    write: (bytes) => void viewer.write(bytes),
    get queuedBytes() {
      return viewer.queuedBytes;
    },
    end: () => void viewer.end(), // never rejects; `viewer.ended` reports the end
    cut: () => viewer.cut(503),
  };
}

/**
 * Creates a WebSocket viewer. Only ping and close are answered. `idleMs`: limit without progress at the end.
 */
export function createWebSocketSink(socket: Socket, idleMs: number): HubViewer {
  const frames = new ClientFrames();
  const end = (code: number) => {
    if (!socket.writable) return;
    socket.setTimeout(idleMs, () => socket.destroy());
    socket.end(closeFrame(code));
  };
  socket.on('error', () => undefined); // 'close' follows
  socket.on('end', () => socket.destroy());
  socket.on('data', (bytes: Buffer) => {
    for (const frame of frames.push(bytes)) {
      if (frame.kind === 'ping') {
        if (socket.writableLength < MAX_QUEUED_PONG_BYTES) socket.write(pongFrame(frame.payload));
      } else end(frame.kind === 'close' ? NORMAL : PROTOCOL_ERROR);
    }
  });
  socket.resume();
  return {
    encoding: FLV_ENCODING,
    write(bytes) {
      if (!socket.writable) return;
      socket.cork();
      socket.write(dataHeader(bytes.length));
      socket.write(bytes);
      socket.uncork();
    },
    get queuedBytes() {
      return socket.writableLength;
    },
    end: () => end(NORMAL),
    cut: () => socket.destroy(),
  };
}

/** Queued bytes at which pings are no longer answered: the client does not read. */
const MAX_QUEUED_PONG_BYTES = 64 * 1024;
/** RFC 6455 §7.4.1 */
const NORMAL = 1000;
const PROTOCOL_ERROR = 1002;
