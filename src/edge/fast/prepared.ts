/** Requests of one bare connection that shortcuts answer: head and body go out at once, and the line is written when they are out. */
import type { Socket } from 'node:net';
import { hostOf } from '#http/request.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import { formatAnswered, formatClient } from '#logs/line.ts';
import { CLIENT_LEFT } from '../access-log.ts';
import type { EdgeContext } from '../context.ts';
import type { PlainRequest, PreparedAnswer, WrittenAnswer } from '../shortcuts.ts';
import type { Secured } from '../tls/secured.ts';
import { formatHead } from './head-text.ts';
import type { RequestHead } from './read-head.ts';
import { RepeatedText } from './repeated-text.ts';

/** On which nobody speaks for others: no trusted proxy. */
export interface PreparedConnection {
  readonly socket: Socket;
  readonly clientAddress: string;
  readonly isTls: boolean;
  readonly secured: Secured | undefined;
  /** What each head says of the connection. */
  readonly keepAliveLines: string;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'metrics'>;

/** An answer that is on its way. */
interface Reply {
  readonly answer: PreparedAnswer;
  readonly written: WrittenAnswer<Buffer>;
  readonly request: PlainRequest;
  readonly startedAt: number;
  readonly requestBytes: number;
}

/** Smaller bodies are one piece with their head. */
const MAX_JOINED_BYTES = 16 * 1024;
const HIT = { status: 'HIT' } as const;

export class PreparedReplies {
  readonly #edge: PreparedContext;
  readonly #connection: PreparedConnection;
  readonly #host = new RepeatedText((text) => hostOf(['host', text]) ?? '');
  readonly #acceptEncoding = new RepeatedText((text) => text);
  readonly #referer = new RepeatedText(orAbsent);
  readonly #userAgent = new RepeatedText(orAbsent);
  /** In order. */
  readonly #underWay: Reply[] = [];
  /** Of those that are not out: their client has not left. */
  #cutStatus: 503 | undefined;
  /** What the log says of the client, and of whom it says that. */
  #logged = { referer: undefined as string | undefined, userAgent: undefined as string | undefined, text: '-\t-' };

  constructor(edge: PreparedContext, connection: PreparedConnection) {
    this.#edge = edge;
    this.#connection = connection;
  }

  /** `bytes` begin with the head. Gives how much was written; 0: nothing has happened, the pipeline is to answer. */
  answer(bytes: Buffer, head: RequestHead): number {
    if (!isPlainGet(head)) return 0;
    const { isTls, secured, clientAddress } = this.#connection;
    const startedAt = this.#edge.clock();
    const request = {
      isTls,
      secured,
      clientAddress,
      host: this.#host.read(bytes, head.hostStart, head.hostEnd),
      target: bytes.toString('latin1', head.targetStart, head.targetEnd),
      acceptEncoding: this.#acceptEncoding.read(bytes, head.acceptEncodingStart, head.acceptEncodingEnd),
      referer: this.#referer.read(bytes, head.refererStart, head.refererEnd),
      userAgent: this.#userAgent.read(bytes, head.userAgentStart, head.userAgentEnd),
    };
    const answer = this.#edge.shortcuts.find(request, startedAt);
    if (answer === undefined) return 0;
    answer.written.http1 ??= write(answer, request.target, this.#connection.keepAliveLines);
    const written = answer.written.http1;
    this.#underWay.push({ answer, written, request, startedAt, requestBytes: head.end });
    this.#send(written.head, answer.body);
    return written.headBytes + written.bodyBytes;
  }

  /** We end the connection. */
  cut(status: 503): void {
    this.#cutStatus = status;
  }

  #send(head: Buffer, body: readonly Buffer[]): void {
    const { socket } = this.#connection;
    if (isJoined(body)) {
      socket.write(head, this.#conclude);
      return;
    }
    socket.cork();
    socket.write(head);
    for (const piece of body) socket.write(piece, piece === body.at(-1) ? this.#conclude : undefined);
    socket.uncork();
  }

  /** Of the oldest: it is out, or the connection is gone. */
  readonly #conclude = (error?: Error | null): void => {
    const reply = this.#underWay.shift();
    if (reply === undefined) return;
    const { clock, metrics, writeLog } = this.#edge;
    const { answer, written, request, startedAt, requestBytes } = reply;
    const { clientAddress, target, referer, userAgent } = request;
    const endedAt = clock();
    const responseBytes = written.headBytes + written.bodyBytes;
    const isOut = error === undefined || error === null;
    const status = isOut ? 200 : (this.#cutStatus ?? CLIENT_LEFT);
    metrics.countRequest(HIT, status, responseBytes);
    metrics.countPrepared();
    writeLog(answer.domainId, {
      clientAddress,
      endedAt,
      durationMs: endedAt - startedAt,
      requestBytes,
      responseBytes,
      host: answer.host,
      method: 'GET',
      target,
      httpVersion: '1.1',
      cacheCode: 'TCP_MEM_HIT',
      status,
      contentType: answer.contentType,
      referer,
      userAgent,
      ...(isOut && { tail: `${written.logged}\t${this.#loggedClient(referer, userAgent)}` }),
    });
  };

  #loggedClient(referer: string | undefined, userAgent: string | undefined): string {
    if (referer !== this.#logged.referer || userAgent !== this.#logged.userAgent)
      this.#logged = { referer, userAgent, text: formatClient({ referer, userAgent }) };
    return this.#logged.text;
  }
}

/** Nothing in it but host, target and `Accept-Encoding` counts for what is stored. */
export function isPlainGet(head: RequestHead): boolean {
  return head.isPlain && !head.isHead && head.ifNoneMatchEnd === 0 && head.ifModifiedSinceEnd === 0;
}

/** A field that is not there. */
function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}

function isJoined(body: readonly Buffer[]): boolean {
  const [piece] = body;
  return piece === undefined || (body.length === 1 && piece.length <= MAX_JOINED_BYTES);
}

function write(
  { reason, headers, host, contentType, body }: PreparedAnswer,
  target: string,
  framing: string,
): WrittenAnswer<Buffer> {
  const head = Buffer.from(formatHead(200, reason, headers, framing), 'latin1');
  const answered = { host, method: 'GET', target, httpVersion: '1.1', cacheCode: 'TCP_MEM_HIT', status: 200 } as const;
  return {
    head: ownBytes(isJoined(body) ? [head, ...body] : [head]),
    headBytes: head.length,
    bodyBytes: body.reduce((sum, { length }) => sum + length, 0),
    logged: formatAnswered({ ...answered, contentType }),
  };
}
