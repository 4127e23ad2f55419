/** Requests of one bare connection that shortcuts answer: head and body go out at once, and the line is written when they are out. */
import type { Socket } from 'node:net';
import { hostOf } from '#http/request.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { EdgeContext } from '../context.ts';
import { formatPrepared, PreparedLines, type PreparedReply } from '../prepared-lines.ts';
import { conditionsOf, type PreparedAnswer, type WrittenAnswer } from '../shortcuts.ts';
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

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'metrics' | 'pins'>;

interface Reply extends PreparedReply {
  readonly written: WrittenAnswer<Buffer>;
  /** To the socket. */
  readonly givenBefore: number;
}

/** Smaller bodies are one piece with their head. */
const MAX_JOINED_BYTES = 16 * 1024;

export class PreparedReplies {
  readonly #edge: PreparedContext;
  readonly #connection: PreparedConnection;
  readonly #host = new RepeatedText((text) => hostOf(['host', text]) ?? '');
  readonly #acceptEncoding = new RepeatedText((text) => text);
  readonly #referer = new RepeatedText(orAbsent);
  readonly #userAgent = new RepeatedText(orAbsent);
  /** In order. */
  readonly #underWay: Reply[] = [];
  readonly #lines: PreparedLines;

  constructor(edge: PreparedContext, connection: PreparedConnection) {
    this.#edge = edge;
    this.#connection = connection;
    this.#lines = new PreparedLines(edge, '1.1');
  }

  /** `bytes` begin with the head. `givenBefore`: to the socket. Gives how much was written; 0: nothing has happened, the pipeline is to answer. */
  answer(bytes: Buffer, head: RequestHead, givenBefore: number): number {
    if (!isPlainGet(head)) return 0;
    const { isTls, secured, clientAddress } = this.#connection;
    const startedAt = this.#edge.clock();
    const request = {
      isTls,
      secured,
      clientAddress,
      host: this.#host.read(bytes, head.hostStart, head.hostEnd),
      target: bytes.toString('latin1', head.targetStart, head.targetEnd),
      conditions: readConditions(bytes, head),
      acceptEncoding: this.#acceptEncoding.read(bytes, head.acceptEncodingStart, head.acceptEncodingEnd),
      referer: this.#referer.read(bytes, head.refererStart, head.refererEnd),
      userAgent: this.#userAgent.read(bytes, head.userAgentStart, head.userAgentEnd),
    };
    const answer = this.#edge.shortcuts.find(request, startedAt);
    if (answer === undefined) return 0;
    answer.written.http1 ??= write(answer, request.target, this.#connection.keepAliveLines);
    const written = answer.written.http1;
    this.#underWay.push({ givenBefore, answer, written, request, startedAt, requestBytes: head.end });
    this.#send(written.head, answer.body);
    return written.headBytes + written.bodyBytes;
  }

  /** The client has to be waited for; gives what ends that. */
  hold(): () => void {
    const held = this.#underWay.at(-1)?.answer.held;
    return held === undefined ? NOTHING : this.#edge.pins.hold(held, this);
  }

  /** Ends the connection. */
  readonly cut = (): void => {
    this.#lines.cut();
    this.#connection.socket.destroy();
  };

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
    const { logged, headBytes, bodyBytes } = reply.written;
    const isOut = error === undefined || error === null;
    const bytes = headBytes + bodyBytes;
    // As far as the system took them.
    const taken = Math.max(0, this.#connection.socket.bytesWritten - reply.givenBefore);
    this.#lines.conclude(reply, logged, isOut ? bytes : Math.min(bytes, taken), isOut);
  };
}

/** Nothing in it but what a shortcut is found by counts for what is stored. */
export function isPlainGet(head: RequestHead): boolean {
  return head.isPlain && !head.isHead;
}

function readConditions(bytes: Buffer, head: RequestHead): string {
  const { ifNoneMatchStart, ifNoneMatchEnd, ifModifiedSinceStart, ifModifiedSinceEnd } = head;
  if (ifNoneMatchEnd === 0 && ifModifiedSinceEnd === 0) return '';
  const tags = bytes.toString('latin1', ifNoneMatchStart, ifNoneMatchEnd);
  return conditionsOf(orAbsent(tags), orAbsent(bytes.toString('latin1', ifModifiedSinceStart, ifModifiedSinceEnd)));
}

/** A field that is not there. */
function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}

const NOTHING = (): void => undefined;

function isJoined(body: readonly Buffer[]): boolean {
  const [piece] = body;
  return piece === undefined || (body.length === 1 && piece.length <= MAX_JOINED_BYTES);
}

function write(answer: PreparedAnswer, target: string, framing: string): WrittenAnswer<Buffer> {
  const { status, reason, headers, body } = answer;
  const head = Buffer.from(formatHead(status, reason, headers, framing), 'latin1');
  return {
    head: ownBytes(isJoined(body) ? [head, ...body] : [head]),
    headBytes: head.length,
    bodyBytes: body.reduce((sum, { length }) => sum + length, 0),
    logged: formatPrepared(answer, target, '1.1'),
  };
}
