/** What node:http makes of bytes, set up as the edge's server is. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { Duplex } from 'node:stream';
import { setImmediate } from 'node:timers/promises';

export interface NodeRequest {
  readonly method: string | undefined;
  readonly target: string | undefined;
  readonly headers: readonly string[];
  readonly isLast: boolean;
}

export interface NodeReading {
  readonly requests: readonly NodeRequest[];
  /** Of each; characters are bytes. */
  readonly bodies: readonly string[];
  readonly error: string | undefined;
}

export class NodeReader {
  readonly #server: Server;
  #requests: NodeRequest[] = [];
  #bodies: string[] = [];
  #error: string | undefined;

  constructor({ maxHeaderSize }: { readonly maxHeaderSize: number }) {
    const options = { insecureHTTPParser: false, requireHostHeader: false, maxHeaderSize };
    this.#server = createServer({ ...options, shouldUpgradeCallback: () => false });
    this.#server.maxHeadersCount = 0;
    const note = (message: IncomingMessage, response: ServerResponse) => {
      const { method, url: target, rawHeaders: headers } = message;
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
    connection.push(Buffer.from(bytes));
    await setImmediate();
    connection.destroy();
    return { requests: this.#requests, bodies: this.#bodies, error: this.#error };
  }
}
