/** Calls to control as bytes, and all that comes back on their connection. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { AnswerReader } from '../edge/answer-reader.ts';

export const ADD = '/domain/addDomain';
export const SEND = '/api/sms/ordinary';

/** Fields stand as they are given; without `Content-Length` among them it is that of the body. */
export function callBytes(path: string, body: string, fields: readonly string[] = []): string {
  const hasLength = fields.some((field) => /^content-length|^transfer-encoding/i.test(field));
  const length = hasLength ? [] : [`Content-Length: ${Buffer.byteLength(body)}`];
  const lines = [`POST ${path} HTTP/1.1`, 'Host: a', 'Content-Type: application/json', ...fields, ...length];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

export function openRaw(url: string): Socket {
  return connect({ port: Number(new URL(url).port), host: '127.0.0.1', noDelay: true });
}

/** node:http has this connection for good: it has asked for what our own reader does not read. */
export async function openAtNode(url: string): Promise<Socket> {
  const socket = openRaw(url);
  socket.write('GET /healthz HTTP/1.1\r\nHost: a\r\n\r\n');
  const reader = new AnswerReader();
  reader.expect('GET');
  while (reader.isWaiting) {
    const [bytes] = await once(socket, 'data');
    reader.add(bytes.toString('latin1'));
  }
  return socket;
}

/** What comes back until the service ends the connection. Characters are bytes. */
export async function sendAll(
  socket: Socket,
  pieces: readonly Buffer[],
  end: 'end' | 'stay' = 'stay',
): Promise<string> {
  socket.setEncoding('latin1');
  const answer = text(socket);
  for (const piece of pieces) {
    await new Promise<void>((resolve) => socket.write(piece, () => resolve()));
    await new Promise<void>((resolve) => setImmediate(resolve));
  }
  if (end === 'end') socket.end();
  return await answer;
}
