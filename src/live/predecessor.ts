/**
 * The live process that this one takes over from. It keeps the streams that it has on air until they end; this process
 * follows their states and passes requests for them on. docs/decisions/0608
 */
import { Agent, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import type { LiveReport } from '#feed/wire/live-report.ts';
import type { Logger } from '#lib/logger.ts';
import type { Timers } from '#lib/timers.ts';
import { type StreamName, streamKey } from '#sites/live.ts';
import { refuse } from './refuse.ts';
import { keyOf, type StreamLine, type StreamLines } from './stream-lines.ts';

export interface PredecessorOptions {
  readonly socketPath: string;
  readonly lines: StreamLines;
  /** Called once when it drains or has ended: from then on, new streams are this process's. */
  onTakeOver(): void;
  /** Called once when it has ended. */
  onGone(): void;
  readonly timers: Timers;
  readonly log: Logger;
}

type LiveStatus = NonNullable<LiveReport['streams']>[number];

/** Pause before the list is requested again if the process is there and the list has ended. */
const RETRY_MS = 200;
/** Longest silence of the list: a line is sent every 5 s. */
const SILENCE_MS = 15_000;
/** Longest wait for the head of an answer to a question of this process itself. */
const ANSWER_MS = 2_000;
/** Fields of an answer that are passed on. */
const PASSED_FIELDS = ['content-type', 'content-length', 'cache-control', 'causeway-broadcast'] as const;

export class Predecessor implements Disposable {
  readonly #options: PredecessorOptions;
  readonly #agent = new Agent({ keepAlive: true });
  readonly #closing = new AbortController();
  #cancelRetry = () => {};
  #drains = false;
  #isGone = false;

  constructor(options: PredecessorOptions) {
    this.#options = options;
    void this.#follow(); // never rejects
  }

  /** Whether the process has ended. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether the process has the stream on air, or waits for its publisher to return. */
  has(name: StreamName): boolean {
    return this.#options.lines.inherited(name) !== undefined;
  }

  /** Answers a worker's request with the process's answer, or with 503 if that cannot be had. Never rejects. */
  async pass(path: string, response: ServerResponse): Promise<void> {
    const agent = path.includes('/hls/') ? this.#agent : undefined;
    const answer = await this.#ask({ path, agent }).catch(() => undefined);
    if (answer === undefined) return refuse(response, 503);
    const fields = PASSED_FIELDS.flatMap((name) => {
      const value = answer.headers[name];
      return typeof value === 'string' ? [[name, value] as const] : [];
    });
    response.writeHead(answer.statusCode ?? 502, Object.fromEntries(fields));
    response.flushHeaders(); // the first bytes may follow only with the next key frame
    pipeline(answer, response, () => undefined); // the end of one is the end of the other
  }

  /** Opens a broadcast as FLV. Throws if the process cannot be reached. */
  openFlv(name: StreamName): Promise<IncomingMessage> {
    return this.#ask({ path: `/streams/${streamKey(name)}/flv`, timeoutMs: ANSWER_MS });
  }

  /**
   * Requests the stream for another publisher. Returns false if the present one is to be kept, or if the process does
   * not answer.
   */
  async releases(name: StreamName): Promise<boolean> {
    const status = await this.#post(`/streams/${streamKey(name)}/release`, '');
    return this.#isGone || status === 204 || status === 404;
  }

  /** Ends broadcasts of the process: other machines have their streams on air. */
  disown(broadcasts: readonly string[]): void {
    if (!this.#isGone) void this.#post('/disown', JSON.stringify(broadcasts)); // never rejects
  }

  /** Passes a worker's report of its viewers on. */
  tellViewers(report: string): void {
    if (!this.#isGone) void this.#post('/viewers', report); // never rejects
  }

  /**
   * Returns the broadcasts that the process has on air; `undefined` while it does not drain and reports them itself.
   */
  async statuses(): Promise<readonly LiveStatus[] | undefined> {
    if (this.#isGone) return [];
    if (!this.#drains) return undefined;
    try {
      const answer = await this.#ask({ path: '/statuses', timeoutMs: ANSWER_MS });
      let text = '';
      for await (const piece of answer.setEncoding('utf8')) text += piece;
      return JSON.parse(text) as readonly LiveStatus[]; // `as`: a process of the same version
    } catch {
      return []; // it is ending
    }
  }

  [Symbol.dispose](): void {
    this.#cancelRetry();
    this.#closing.abort();
    this.#agent.destroy();
  }

  async #post(path: string, body: string): Promise<number | undefined> {
    try {
      const answer = await this.#ask({ method: 'POST', path, body, timeoutMs: ANSWER_MS });
      answer.resume();
      return answer.statusCode;
    } catch {
      return undefined;
    }
  }

  /** Follows the list of streams until the process has ended. Never rejects. */
  async #follow(): Promise<void> {
    try {
      const answer = await this.#ask({ path: '/streams?successor' });
      answer.setTimeout(SILENCE_MS, () => answer.destroy(new Error('the earlier live process has fallen silent')));
      await this.#readLines(answer);
    } catch (error) {
      if (isAbsent(error)) return this.#noteGone();
      this.#options.log.debug({ err: error }, 'the list of the earlier live process has ended');
    }
    if (this.#closing.signal.aborted) return;
    this.#cancelRetry = this.#options.timers.after(RETRY_MS, () => void this.#follow());
  }

  async #readLines(answer: IncomingMessage): Promise<void> {
    const { lines } = this.#options;
    let named: Set<string> | undefined = new Set();
    let rest = '';
    for await (const text of answer.setEncoding('utf8')) {
      const texts = `${rest}${text}`.split('\n');
      rest = texts.pop() ?? '';
      // `as`: the lines of `relay-server.ts`.
      for (const line of texts.map((each) => JSON.parse(each) as Line)) {
        if ('draining' in line) this.#noteDrain();
        else if ('synced' in line) {
          if (named !== undefined) lines.forgetInherited(named);
          named = undefined;
        } else if ('stream' in line) {
          named?.add(keyOf(line));
          // Whether a stream is forbidden is read from the edge's own file.
          lines.setInherited(line.state === 'paused' ? { ...line, state: 'none' } : line);
        }
      }
    }
  }

  #noteDrain(): void {
    if (this.#drains) return;
    this.#drains = true;
    this.#options.onTakeOver();
  }

  #noteGone(): void {
    if (this.#closing.signal.aborted) return;
    this.#isGone = true;
    this.#options.lines.forgetInherited();
    this.#noteDrain();
    this.#options.onGone();
  }

  #ask({ method = 'GET', path, body, agent, timeoutMs }: Asked): Promise<IncomingMessage> {
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const { socketPath, timers } = this.#options;
    const { signal } = this.#closing;
    const asked = httpRequest({ socketPath, method, path, agent: agent ?? false, signal });
    const late = () => asked.destroy(new Error('the earlier live process does not answer'));
    const cancel = timeoutMs === undefined ? () => {} : timers.after(timeoutMs, late);
    asked.on('response', (answer) => {
      cancel();
      answer.on('error', () => undefined); // the reader of the body gets the error
      resolve(answer);
    });
    asked.on('error', (error) => {
      cancel();
      reject(error);
    });
    asked.end(body);
    return promise;
  }
}

/** A line of the list. An empty object shows that the process is alive. */
type Line = StreamLine | { readonly draining: true } | { readonly synced: true } | Readonly<Record<never, never>>;

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly agent?: Agent | undefined;
  readonly timeoutMs?: number;
}

/** Whether nobody listens on the socket. */
function isAbsent(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ECONNREFUSED' || code === 'ENOENT';
}
