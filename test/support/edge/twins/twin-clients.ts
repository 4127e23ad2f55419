/** One client's connection to one twin: requests are sent, as bytes where the version allows it, and what came back is told. */
import { type ClientHttp2Session, type ClientHttp2Stream, connect as connectHttp2 } from 'node:http2';
import { connect as connectTcp, type Socket } from 'node:net';
import { setImmediate as turn } from 'node:timers/promises';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { AnswerReader } from '../answer-reader.ts';
import { answerOf } from '../http2-client.ts';
import { type TwinRequest, written } from './twin-requests.ts';

export interface Approach {
  readonly transport: 'plain' | 'tls' | 'h2';
  /** 127.0.0.3 is a trusted proxy, which speaks the PROXY protocol. */
  readonly from: '127.0.0.1' | '127.0.0.2' | '127.0.0.3';
  /** Address in the PROXY header; the proxy's own: the client is the one that X-Forwarded-For names. */
  readonly behind: '198.51.100.7' | '127.0.0.3';
  readonly serverName: string;
}

export interface TwinPorts {
  readonly http: number;
  readonly https: number;
  readonly ca: string;
}

export interface TwinConnection {
  readonly isClosed: boolean;
  /** What was answered; each request that is complete has its answer, or the connection has ended. */
  send(requests: readonly TwinRequest[], cuts: readonly number[]): Promise<readonly unknown[]>;
  close(): void;
}

export async function openConnection(approach: Approach, ports: TwinPorts): Promise<TwinConnection> {
  const port = approach.transport === 'plain' ? ports.http : ports.https;
  const raw = connectTcp({ port, host: '127.0.0.1', localAddress: approach.from, noDelay: true });
  raw.on('error', ignore);
  if (approach.from === '127.0.0.3') raw.write(`PROXY TCP4 ${approach.behind} 127.0.0.1 1000 80\r\n`);
  if (approach.transport === 'plain') return new Http1Connection(raw);
  const isHttp2 = approach.transport === 'h2';
  const socket = connectTls({
    socket: raw,
    servername: approach.serverName,
    ca: ports.ca,
    checkServerIdentity: () => undefined,
    ALPNProtocols: [isHttp2 ? 'h2' : 'http/1.1'],
  });
  socket.on('error', ignore);
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('secureConnect', () => resolve(true)).once('close', () => resolve(false));
  });
  if (!isOpen) return NO_CONNECTION;
  return isHttp2 ? new Http2Connection(socket) : new Http1Connection(socket);
}

/** The handshake was refused. */
const NO_CONNECTION: TwinConnection = {
  isClosed: true,
  send: async () => ['no connection'],
  close: () => undefined,
};

class Http1Connection implements TwinConnection {
  readonly #socket: Socket;
  readonly #reader = new AnswerReader();
  #tell = (): void => undefined;
  isClosed = false;

  constructor(socket: Socket) {
    this.#socket = socket;
    socket.on('data', (bytes: Buffer) => {
      this.#reader.add(bytes.toString('latin1'));
      this.#tell();
    });
    socket.on('close', () => {
      this.isClosed = true;
      this.#reader.end();
      this.#tell();
    });
  }

  async send(requests: readonly TwinRequest[], cuts: readonly number[]): Promise<readonly unknown[]> {
    const bytes = Buffer.from(requests.map(written).join(''), 'latin1');
    for (const { method } of requests) this.#reader.expect(method);
    let from = 0;
    for (const cut of [...cuts.map((at) => at % bytes.length).sort((a, b) => a - b), bytes.length]) {
      if (cut === from) continue;
      this.#socket.write(bytes.subarray(from, cut));
      from = cut;
      await turn();
    }
    while (this.#isWaiting) await new Promise<void>((resolve) => (this.#tell = resolve));
    return this.#reader.answers.splice(0);
  }

  /** True while answers, or after the last one the end, are awaited. */
  get #isWaiting(): boolean {
    const { isWaiting, answers } = this.#reader;
    return (
      !this.isClosed &&
      (isWaiting || answers.some(({ head }) => head.some((line) => /^connection: close$/i.test(line))))
    );
  }

  close(): void {
    this.#socket.destroy();
  }
}

class Http2Connection implements TwinConnection {
  readonly #session: ClientHttp2Session;

  constructor(socket: TLSSocket) {
    this.#session = connectHttp2('https://twin.test', {
      createConnection: () => socket,
      ...{ strictSingleValueFields: false }, // not among the types
    });
    this.#session.on('error', ignore);
  }

  get isClosed(): boolean {
    return this.#session.closed || this.#session.destroyed;
  }

  async send(requests: readonly TwinRequest[]): Promise<readonly unknown[]> {
    const answers: unknown[] = [];
    for (const request of requests) answers.push(await this.#ask(request));
    const areHits = answers.every((answer) => JSON.stringify(answer).includes('causeway; hit'));
    // One after the other they are what they are side by side.
    if (areHits && !this.isClosed) answers.push(...(await Promise.all(requests.map((request) => this.#ask(request)))));
    return answers;
  }

  async #ask({ method, target, hosts, fields, body }: TwinRequest): Promise<unknown> {
    const list = [':method', method, ':scheme', 'https', ':path', target];
    if (hosts[0] !== undefined) list.push(':authority', hosts[0]);
    for (const host of hosts.slice(1)) list.push('host', host);
    for (const { name, value } of fields) if (!OF_HTTP1.has(name.toLowerCase())) list.push(name.toLowerCase(), value);
    if (this.isClosed) return 'closed';
    const stream = this.#open(list, body === undefined);
    if (stream === undefined) return 'not sent';
    stream.on('error', ignore);
    if (body !== undefined) stream.end(body);
    const { status, rawHeaders, body: said, interim, code } = await answerOf(stream);
    return { status, rawHeaders, said, interim, code };
  }

  /** `undefined`: Node's client sends no such request. */
  #open(list: readonly string[], endStream: boolean): ClientHttp2Stream | undefined {
    try {
      return this.#session.request([...list], { endStream });
    } catch {
      return undefined;
    }
  }

  close(): void {
    this.#session.destroy();
  }
}

/** Node's client does not send them. */
const OF_HTTP1: ReadonlySet<string> = new Set([
  ...[
    'connection',
    'proxy-connection',
    'keep-alive',
    'transfer-encoding',
    'upgrade',
    'te',
    'http2-settings',
    'content-length',
  ],
]);

function ignore(): void {} // shows as closed
