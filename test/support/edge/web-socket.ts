/** An origin that agrees to every handshake of WebSocket, behind an edge, and clients that ask for it byte by byte. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import type { Socket } from 'node:net';
import type { TestContext } from 'node:test';
import type { EdgeOptions } from '../../../src/edge/server.ts';
import { eventually } from '../eventually.ts';
import { connectRaw, type RawClient, SITE_HOST, startTestEdge, type TestEdge } from './edge.ts';
import { startRawOrigin } from './origin.ts';

const HOST = `Host: ${SITE_HOST}\r\n`;
export const KEY = 'dGhlIHNhbXBsZSBub25jZQ==';
export const HANDSHAKE = `GET /chat?room=1 HTTP/1.1\r\n${HOST}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${KEY}\r\n\r\n`;

/** The 101 that answers a request's head. */
export function accept(head: string): string {
  const key = /^sec-websocket-key: (.*)$/im.exec(head)?.[1]?.trim() ?? '';
  const value = createHash('sha1').update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest('base64');
  return `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${value}\r\n\r\n`;
}

export interface Peer extends TestEdge {
  /** The origin's ends of what was opened, in order. */
  readonly sockets: Socket[];
  /** What each of them has had after its handshake. */
  readonly got: string[];
  readonly heads: readonly string[];
  readonly originPort: number;
}

type PeerOptions = Partial<EdgeOptions> & { readonly greeting?: string; readonly isHalfOpen?: boolean };

/** An origin that agrees to every handshake and says `greeting` in the same breath. */
export async function startPeer(
  t: TestContext,
  { greeting = '', isHalfOpen = false, ...options }: PeerOptions = {},
): Promise<Peer> {
  const sockets: Socket[] = [];
  const got: string[] = [];
  const origin = await startRawOrigin(t, (socket, head) => {
    const i = sockets.push(socket) - 1;
    got.push('');
    socket.allowHalfOpen = isHalfOpen;
    socket.removeAllListeners('data');
    socket.on('data', (chunk) => {
      got[i] += chunk.toString('latin1');
    });
    socket.write(accept(head) + greeting, 'latin1');
  });
  const edge = await startTestEdge(t, [origin.port], options);
  return { ...edge, sockets, got, heads: origin.heads, originPort: origin.port };
}

export async function open(edge: { readonly port: number }, bytes = HANDSHAKE): Promise<RawClient> {
  const client = connectRaw(edge.port, bytes);
  await eventually('upgraded', () => client.text().includes('\r\n\r\n'));
  assert.match(client.text(), /^HTTP\/1\.1 101 Switching Protocols\r\n/);
  return client;
}

/** What came after the head. */
export const bodyOf = (client: RawClient) => client.text().split('\r\n\r\n').slice(1).join('\r\n\r\n');
/** Returns the open WebSockets as the metrics count them. */
export const openSockets = async ({ registry }: TestEdge) =>
  Number(/causeway_edge_web_sockets (\d+)/.exec(await registry.metrics())?.[1]);
