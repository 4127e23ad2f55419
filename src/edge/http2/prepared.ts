/** Streams of one connection that shortcuts answer: head and body go out at once, and the line is written when the stream is closed. */
import type { ServerHttp2Stream } from 'node:http2';
import { hostOf } from '#http/request.ts';
import type { EdgeContext } from '../context.ts';
import { formatPrepared, type PreparedAnswer, type WrittenAnswer } from '../prepared-answer.ts';
import { PreparedLines, type PreparedReply } from '../prepared-lines.ts';
import type { Secured } from '../tls/secured.ts';
import { headFields } from './head-fields.ts';
import type { PlainHead } from './plain.ts';

export interface PreparedStreamsOptions {
  readonly clientAddress: string;
  readonly secured: Secured;
  /** For a client that takes nothing. */
  readonly idleTimeoutMs: number;
  /** A stream that was answered is closed. */
  readonly onClosed: () => void;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'writeHit' | 'metrics' | 'pins'>;

interface Reply extends PreparedReply {
  readonly answer: PreparedAnswer;
  readonly written: WrittenAnswer<string[]>;
  /** Its client is slow, has so long for each piece, and keeps the body in memory; ends that. */
  endWait: (() => void) | undefined;
}

/** Of bodies that the client has not taken. What would be more is the pipeline's, which writes them in pieces. */
const MAX_UNTAKEN_BYTES = 1024 * 1024;

export class PreparedStreams {
  readonly #edge: PreparedContext;
  readonly #options: PreparedStreamsOptions;
  readonly #lines: PreparedLines;
  readonly #underWay = new Map<ServerHttp2Stream, Reply>();
  #untakenBytes = 0;
  /** A connection is for few hosts. */
  #host = { authority: '', text: '' };

  constructor(edge: PreparedContext, options: PreparedStreamsOptions) {
    this.#edge = edge;
    this.#options = options;
    this.#lines = new PreparedLines(edge, '2.0');
  }

  /** False: nothing has happened, the pipeline is to answer. */
  answer(stream: ServerHttp2Stream, head: PlainHead): boolean {
    if (stream.closed || stream.destroyed) return false;
    const { clientAddress, secured } = this.#options;
    const { target, acceptEncoding, headBytes } = head;
    const startedAt = this.#edge.clock();
    const request = {
      isTls: true,
      secured,
      clientAddress,
      host: this.#hostOf(head.authority),
      target,
      acceptEncoding,
      ifNoneMatch: orAbsent(head.ifNoneMatch),
      ifModifiedSince: orAbsent(head.ifModifiedSince),
      referer: orAbsent(head.referer),
      userAgent: orAbsent(head.userAgent),
    };
    const answer = this.#edge.shortcuts.find(request, startedAt);
    if (answer === undefined) return false;
    answer.written.http2 ??= write(answer);
    const written = answer.written.http2;
    if (this.#untakenBytes > 0 && this.#untakenBytes + written.bodyBytes > MAX_UNTAKEN_BYTES) return false;
    this.#untakenBytes += written.bodyBytes;
    this.#underWay.set(stream, { answer, written, request, startedAt, requestBytes: headBytes, endWait: undefined });
    stream.on('error', ignore);
    stream.on('close', () => this.#conclude(stream));
    send(stream, written, answer.body);
    return true;
  }

  /** We end the connection. */
  cut(): void {
    this.#lines.cut();
  }

  /** Now and then: streams that are still here have a slow client, and few of all. */
  sweep(): void {
    for (const [stream, reply] of this.#underWay) {
      if (reply.endWait !== undefined) continue;
      const { held } = reply.answer;
      reply.endWait =
        held === undefined ? NOTHING : this.#edge.pins.hold(held, { cut: () => cutStream(stream, reply) });
      // Node's timer sees progress inside a large write.
      stream.setTimeout(this.#options.idleTimeoutMs, () => stream.destroy(new Error('it takes nothing')));
    }
  }

  #conclude(stream: ServerHttp2Stream): void {
    const reply = this.#underWay.get(stream);
    if (reply === undefined) return;
    this.#underWay.delete(stream);
    reply.endWait?.();
    const { logged, headBytes, bodyBytes } = reply.written;
    this.#untakenBytes -= bodyBytes;
    const isOut = stream.writableFinished;
    this.#lines.conclude(reply, logged, headBytes + bodyBytes - (isOut ? 0 : stream.writableLength), isOut);
    this.#options.onClosed();
  }

  #hostOf(authority: string): string {
    if (authority !== this.#host.authority) this.#host = { authority, text: hostOf(['host', authority]) ?? '' };
    return this.#host.text;
  }
}

function cutStream(stream: ServerHttp2Stream, reply: Reply): void {
  reply.isCut = true;
  stream.destroy(new Error('its answer is not whole'));
}

function send(stream: ServerHttp2Stream, { head }: WrittenAnswer<string[]>, body: readonly Buffer[]): void {
  const last = body.at(-1);
  if (last === undefined || last.length === 0) {
    stream.respond(head, { endStream: true });
    return;
  }
  stream.respond(head);
  for (const piece of body) if (piece !== last) stream.write(piece);
  stream.end(last);
}

function write(answer: PreparedAnswer): WrittenAnswer<string[]> {
  const { fields, headBytes } = headFields(answer.status, answer.headers);
  return {
    head: fields,
    headBytes,
    bodyBytes: answer.body.reduce((sum, { length }) => sum + length, 0),
    logged: formatPrepared(answer, '2.0'),
  };
}

/** A field that is not there. */
function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}

const NOTHING = (): void => undefined;

function ignore(): void {} // shows as closed
