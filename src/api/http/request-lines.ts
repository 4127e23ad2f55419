/**
 * What node:http does not tell of the requests that it reads for control: the protocol that their line named, and their target before it
 * was rewritten. docs/decisions/0465
 */
import type { IncomingMessage, Server } from 'node:http';
import type { Socket } from 'node:net';
import { isForOtherHost } from '#http/absolute-form.ts';
import { isOfLine, RequestLines } from '#http/request-lines.ts';

export interface ReadLines {
  /** Watches a connection; returns its bytes as they are. */
  readonly openFilter: (socket: Socket) => (bytes: Buffer) => Buffer;
  /**
   * Registers the filter; must be called after all other listeners for requests of `server`, since each request is
   * checked as it was read.
   */
  watch(server: Pick<Server, 'prependListener'>): void;
  /** Whether the request is another protocol's than HTTP's, or names two hosts. */
  isMalformed(request: IncomingMessage): boolean;
}

export function createReadLines(): ReadLines {
  const lines = new WeakMap<Socket, RequestLines>();
  const malformed = new WeakSet<IncomingMessage>();
  const note = (request: IncomingMessage): void => {
    const { method = '', url = '', headers, socket } = request;
    const line = lines.get(socket)?.next();
    const isHttp = line === undefined || isOfLine(line, method, url);
    if (!isHttp || isForOtherHost(url, headers.host)) malformed.add(request);
  };
  return {
    openFilter: (socket) => {
      const own = new RequestLines();
      lines.set(socket, own);
      return (bytes) => {
        own.take(bytes); // a target with bytes beyond ASCII is left to the parser, which refuses it
        return bytes;
      };
    },
    watch: (server) => void server.prependListener('request', note),
    isMalformed: (request) => malformed.has(request),
  };
}
