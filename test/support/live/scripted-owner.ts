/** A live process as an edge worker sees it: the requests on its unix socket, answered as a test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { flvHeader, writeFlvTag } from '../../../src/fanout/media/flv.ts';
import type { MediaMessage } from '../../../src/fanout/media/message.ts';
import { temporaryFolder } from '../temporary.ts';

export interface ScriptedOwner {
  readonly socketPath: string;
  /** Paths that were asked for, with their queries, but for the table's. */
  readonly asked: string[];
  /** Bodies of `POST /viewers`. */
  readonly reports: unknown[];
  /** One line of the table: to those who follow it, and first to those who come. `undefined`: the stream is forgotten. */
  tell(stream: string, state: 'live' | 'grace' | 'paused' | 'none', broadcast?: string): void;
  /** What a path without its query is answered with. */
  answer(path: string, give: (response: ServerResponse, request: IncomingMessage) => void): void;
  /** Open answers of FLV; each was begun with the header and what is on air already. */
  readonly flv: Set<ServerResponse>;
  /** Sends messages to all viewers, and first to new ones. */
  push(...messages: readonly MediaMessage[]): void;
  /** Ends the connections of those who follow the table; the process stays. */
  hangUp(): void;
  /** The process is killed. */
  kill(): Promise<void>;
  /** Starts again, and knows only what it is sent from here on. */
  start(): Promise<void>;
}

export const DOMAIN = 1;

export async function startScriptedOwner(t: TestContext): Promise<ScriptedOwner> {
  const socketPath = join(temporaryFolder(t), 'live.sock');
  const lines = new Map<string, string>();
  const followers = new Set<ServerResponse>();
  const flv = new Set<ServerResponse>();
  const answers = new Map<string, (response: ServerResponse, request: IncomingMessage) => void>();
  const onAir: Buffer[] = [];
  const asked: string[] = [];
  const reports: unknown[] = [];

  const openFlv = (response: ServerResponse, path: string) => {
    const stream = path.split('/')[4] ?? '';
    const line = JSON.parse(lines.get(stream) ?? '{}');
    response.writeHead(200, { 'Content-Type': 'video/x-flv', 'Causeway-Broadcast': line.broadcast ?? 'pulled' });
    response.write(Buffer.concat([flvHeader({ hasAudio: true, hasVideo: true }), ...onAir]));
    flv.add(response);
    response.on('close', () => flv.delete(response));
  };
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    const { url = '', method } = request;
    const [path = ''] = url.split('?');
    if (path === '/streams') {
      response.writeHead(200, { 'Content-Type': 'application/x-ndjson' });
      response.write(`${[...lines.values(), '{"synced":true}'].join('\n')}\n`);
      followers.add(response);
      response.on('close', () => followers.delete(response));
      return;
    }
    if (method === 'POST') {
      let text = '';
      request.setEncoding('utf8').on('data', (piece: string) => {
        text += piece;
      });
      request.on('end', () => {
        reports.push(JSON.parse(text));
        response.end('{}');
      });
      return;
    }
    asked.push(url);
    const answer = answers.get(path);
    if (answer !== undefined) answer(response, request);
    else if (path.endsWith('/flv') && lines.has(path.split('/')[4] ?? '')) openFlv(response, path);
    else response.writeHead(404, { 'Cache-Control': 'no-store' }).end('{}');
  };
  let server = createServer(serve);
  const kill = async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    server.close(() => resolve());
    server.closeAllConnections();
    await promise;
  };
  const start = async () => {
    server = createServer(serve);
    const { promise, resolve } = Promise.withResolvers<void>();
    server.listen(socketPath, resolve);
    await promise;
  };
  await start();
  t.after(async () => {
    if (server.listening) await kill();
  });
  return {
    socketPath,
    asked,
    reports,
    flv,
    hangUp: () => {
      for (const follower of followers) follower.destroy();
    },
    kill,
    start,
    tell: (stream, state, broadcast) => {
      const line = JSON.stringify({ domain: DOMAIN, app: 'live', stream, state, broadcast });
      if (state === 'none') lines.delete(stream);
      else lines.set(stream, line);
      for (const follower of followers) follower.write(`${line}\n`);
    },
    answer: (path, give) => void answers.set(path, give),
    push: (...messages) => {
      const bytes = Buffer.concat(messages.map(writeFlvTag));
      onAir.push(bytes);
      for (const response of flv) response.write(bytes);
    },
  };
}
