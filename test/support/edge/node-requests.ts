/** What node:http makes of bytes, set up as the edge's server is. */
import assert from 'node:assert/strict';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { RequestLines } from '../../../src/http/request-lines.ts';

export interface NodeRequest {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: readonly string[];
  readonly isLast: boolean;
}

export interface NodeReading {
  readonly requests: readonly NodeRequest[];
  /** Body of each request; a character per byte. */
  readonly bodies: readonly string[];
  readonly error: string | undefined;
}

export class NodeReader {
  readonly #server: Server;
  #requests: NodeRequest[] = [];
  #bodies: string[] = [];
  #error: string | undefined;
  readonly #isEdge: boolean;
  #lines = new RequestLines();

  /** `isEdge`: request lines are read before it, as the edge does. */
  constructor({ maxHeaderSize, isEdge = false }: { readonly maxHeaderSize: number; readonly isEdge?: boolean }) {
    this.#isEdge = isEdge;
    const options = { insecureHTTPParser: false, requireHostHeader: false, maxHeaderSize };
    this.#server = createServer({ ...options, shouldUpgradeCallback: () => false });
    this.#server.maxHeadersCount = 0;
    const note = (message: IncomingMessage, response: ServerResponse) => {
      const { method, url, rawHeaders: headers } = message;
      const line = this.#lines.next();
      if (line !== undefined) assert.deepEqual([line.method, line.parsedTarget], [method, url]);
      const target = line?.target ?? url;
      const at = this.#requests.push({ method, target, headers, isLast: !response.shouldKeepAlive }) - 1;
      const bodies = this.#bodies;
      bodies[at] = '';
      message.on('error', () => undefined); // it is cut
      message.on('data', (bytes: Buffer) => {
        bodies[at] += bytes.toString('latin1');
      });
    };
    for (const event of ['request', 'checkContinue', 'checkExpectation']) this.#server.on(event, note);
    this.#server.on('clientError', (error: NodeJS.ErrnoException) => {
      this.#error ??= error.code ?? error.message;
    });
  }

  /** The bytes come in one piece, on a connection of their own. */
  async read(bytes: Buffer): Promise<NodeReading> {
    this.#requests = [];
    this.#bodies = [];
    this.#error = undefined;
    const connection = new Duplex({ read: () => undefined, write: (_chunk, _encoding, done) => done() });
    this.#server.emit('connection', connection);
    this.#lines = new RequestLines();
    connection.push(Buffer.from(this.#isEdge ? this.#lines.take(bytes) : bytes));
    await setImmediate();
    connection.destroy();
    return { requests: this.#requests, bodies: this.#bodies, error: this.#error };
  }
}
