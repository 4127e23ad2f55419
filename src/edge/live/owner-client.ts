/**
 * A client of the live process over its unix socket: the table of streams, broadcasts as FLV, HLS files, and reports of
 * the audience. The requests are described in docs/edge.md, "Live streams".
 */
import { Agent, request as httpRequest, type IncomingMessage } from 'node:http';
import type { Clock } from '#lib/clock.ts';
import type { Logger } from '#lib/logger.ts';
import { createShares } from '#lib/shares.ts';
import type { StreamName } from '#sites/live.ts';
import type { EdgeRequest } from '../request.ts';
import type { OwnerFile } from './hls-files.ts';
import type { StreamTable } from './stream-table.ts';

export interface OwnerClientOptions {
  readonly socketPath: string;
  readonly clock: Clock;
  readonly log: Logger;
  readonly limits: OwnerLimits;
}

export interface OwnerLimits {
  /** Pause between two attempts to reach the live process. */
  readonly retryMs: number;
  /** Longest silence of the stream table: the live process writes to it every 5 s. */
  readonly silenceMs: number;
  /** Longest wait for the head of an answer; a blocking reload takes some seconds. */
  readonly answerMs: number;
}

/** Limit of a line of the table. */
const MAX_LINE_CHARS = 4096;
/**
 * Limit of concurrent requests for HLS files. Each watched stream has two that block: for the next playlist and the
 * next part.
 */
const MAX_QUESTIONS = 4_096;
/** Limit of HLS files that are being read. A segment has at most 56 MiB, and one domain may take half. */
const MAX_READ_BYTES = 256 * 1024 * 1024;
const MAX_DISCARDED_BYTES = 64 * 1024;

/** The viewer that a stream is pulled for: origins may be asked by its scheme and for its host. */
export type PullingViewer = Pick<EdgeRequest, 'scheme' | 'host'>;

interface Asked {
  readonly method?: string;
  readonly path: string;
  readonly body?: string;
  readonly signal?: AbortSignal;
  readonly agent?: Agent;
}

export class OwnerClient {
  readonly #options: OwnerClientOptions;
  readonly #table: StreamTable;
  readonly #agent = new Agent({ keepAlive: true, maxSockets: MAX_QUESTIONS });
  /** Shares of domains in the HLS requests in flight. */
  readonly #shares = createShares(MAX_QUESTIONS);
  /** Shares of domains in the bytes that are being read. */
  readonly #bytes = createShares(MAX_READ_BYTES);
  readonly #closing = new AbortController();
  #retry: NodeJS.Timeout | undefined;
  /**
   * Attempts in a row without a complete table. One is normal: the live process stops before this one at a shutdown.
   */
  #failures = 0;

  constructor(table: StreamTable, options: OwnerClientOptions) {
    this.#table = table;
    this.#options = options;
    void this.#follow(); // never rejects
  }

  /** Requests a broadcast as FLV. `viewer`: set if the stream is not on air, so that it may be pulled from origins. */
  openFlv(name: StreamName, viewer: PullingViewer | undefined): Promise<IncomingMessage> {
    const query = viewer === undefined ? '' : `?origin=${viewer.scheme}&host=${viewer.host}`;
    return this.#ask({ path: `${pathOf(name)}/flv${query}` });
  }

  /**
   * Reads an HLS file, or an error status: 429 if the domain has used up its share. Throws if the live process cannot
   * be reached.
   */
  async readFile(path: string): Promise<OwnerFile> {
    const holder = path.split('/')[2] ?? '';
    if (!this.#shares.mayTake(holder, 1)) return refusal(429);
    this.#shares.add(holder, 1);
    try {
      const answer = await this.#ask({ path, agent: this.#agent });
      const { statusCode = 502, headers } = answer;
      const sizeBytes = Number(headers['content-length']);
      if (statusCode !== 200 || !this.#bytes.mayTake(holder, sizeBytes)) {
        // Reads a short rest to keep the connection; a long one is cheaper to cut.
        if (sizeBytes <= MAX_DISCARDED_BYTES) answer.resume();
        else answer.destroy();
        return refusal(statusCode === 200 ? 429 : statusCode);
      }
      this.#bytes.add(holder, sizeBytes);
      try {
        const bytes = await readBody(answer, sizeBytes, this.#options.limits.answerMs);
        const { 'content-type': contentType = '', 'cache-control': cacheControl = '' } = headers;
        return { status: 200, contentType, cacheControl, bytes };
      } finally {
        this.#bytes.add(holder, -sizeBytes);
      }
    } finally {
      this.#shares.add(holder, -1);
    }
  }

  /** Reports the audience. Returns false if the report was not accepted. Never rejects. */
  async tellViewers(body: string): Promise<boolean> {
    try {
      const answer = await this.#ask({ method: 'POST', path: '/viewers', body });
      answer.resume();
      return (answer.statusCode ?? 500) < 300;
    } catch {
      return false; // the next report is complete, too
    }
  }

  close(): void {
    clearTimeout(this.#retry);
    this.#closing.abort();
    this.#agent.destroy();
  }

  async #follow(): Promise<void> {
    const { log, limits } = this.#options;
    try {
      const answer = await this.#ask({ path: '/streams' });
      if (answer.statusCode !== 200) throw new Error(`the live process answers ${answer.statusCode} to GET /streams`);
      answer.setTimeout(limits.silenceMs, () => answer.destroy(new Error('the live process has fallen silent')));
      await this.#readLines(answer);
      throw new Error('the live process has ended its list of streams');
    } catch (error) {
      this.#table.restart();
      if (this.#closing.signal.aborted) return;
      this.#failures += 1;
      if (this.#failures === 2) log.warn({ err: error }, 'cannot reach the live process; retrying');
      this.#retry = setTimeout(() => void this.#follow(), limits.retryMs); // never rejects
    }
  }

  async #readLines(answer: IncomingMessage): Promise<void> {
    let rest = '';
    answer.setEncoding('utf8');
    for await (const text of answer) {
      const lines = `${rest}${text}`.split('\n');
      rest = lines.pop() ?? '';
      if (rest.length > MAX_LINE_CHARS) throw new Error('the live process sends a line that is too long');
      for (const line of lines) this.#table.apply(line);
      if (this.#table.isSynced) this.#failures = 0;
    }
  }

  #ask(asked: Asked): Promise<IncomingMessage> {
    const { method = 'GET', path, body, signal, agent } = asked;
    const { socketPath, limits } = this.#options;
    const { promise, resolve, reject } = Promise.withResolvers<IncomingMessage>();
    const stop = signal === undefined ? this.#closing.signal : AbortSignal.any([signal, this.#closing.signal]);
    const headers = body === undefined ? {} : { 'content-type': 'application/json' };
    const request = httpRequest({ socketPath, method, path, headers, agent: agent ?? false, signal: stop });
    const timer = setTimeout(() => request.destroy(new Error('the live process does not answer')), limits.answerMs);
    request.on('response', (answer) => {
      clearTimeout(timer);
      answer.on('error', () => undefined); // the reader of the body gets the error
      resolve(answer);
    });
    request.on('error', (error) => {
      clearTimeout(timer);
      // A live process that drains has closed the kept connection: its successor has a new one.
      if (request.reusedSocket && isReset(error)) resolve(this.#ask(asked));
      else reject(error);
    });
    request.end(body);
    return promise;
  }
}

function isReset(error: Error): boolean {
  return 'code' in error && (error.code === 'ECONNRESET' || error.code === 'EPIPE');
}

function refusal(status: number): OwnerFile {
  return { status, contentType: '', cacheControl: '', bytes: NOTHING };
}

const NOTHING = Buffer.alloc(0);

/** Reads a body of the given size into one buffer. Throws if it breaks off, or takes longer than `timeoutMs`. */
function readBody(answer: IncomingMessage, sizeBytes: number, timeoutMs: number): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>();
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  const timer = setTimeout(() => answer.destroy(new Error('the live process has fallen silent')), timeoutMs);
  let at = 0;
  answer.on('data', (chunk: Buffer) => {
    at += chunk.copy(bytes, at);
  });
  answer.on('close', () => {
    clearTimeout(timer);
    if (answer.complete && at === sizeBytes) resolve(bytes);
    else reject(new Error('the live process has cut a file short'));
  });
  return promise;
}

/** Returns the path of a stream. Names need no encoding: they have only letters, digits, `_`, `.` and `-`. */
export function pathOf({ domainId, app, stream }: StreamName): string {
  return `/streams/${domainId}/${app}/${stream}`;
}
