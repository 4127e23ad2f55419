/** Requests of one connection that shortcuts answer: head and body go out at once, and the line is written when they are out. */
import { hostOf } from '#http/request.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { EdgeContext } from '../../context.ts';
import type { Secured } from '../../secured.ts';
import {
  formatPrepared,
  type PreparedAnswer,
  type ReadyFrames,
  type WrittenAnswer,
} from '../../shortcuts/prepared-answer.ts';
import { PreparedLines, type PreparedReply } from '../../shortcuts/prepared-lines.ts';
import {
  ErrorCode,
  FRAME_HEAD_BYTES,
  FrameFlag,
  FrameType,
  formatFrame,
  formatSection,
  MAX_PAYLOAD_BYTES,
} from './frames.ts';
import { encodeHead } from './head-fields.ts';
import type { PlainHead } from './plain.ts';
import type { Outgoing } from './sender.ts';
import type { Http2Stream } from './stream.ts';

export interface PreparedStreamsOptions {
  readonly clientAddress: string;
  readonly secured: Secured;
  /** All at once, if it fits: then it is told when that is out, or that it never will be. */
  sendWhole(
    streamId: number,
    written: WrittenAnswer<ReadyFrames>,
    body: readonly Buffer[],
    outgoing: Outgoing,
  ): boolean;
  /** Opens a stream for an answer that the client does not take at once. */
  openStream(streamId: number): Http2Stream;
  /** An answer is out, or will never be. */
  readonly onEnded: () => void;
}

interface Reply extends PreparedReply {
  readonly answer: PreparedAnswer;
  readonly written: WrittenAnswer<ReadyFrames>;
}

interface SlowReply {
  readonly stream: Http2Stream;
  readonly reply: Reply;
  /** Releases the body that the slow client keeps in memory; `undefined`: it has not been pinned yet. */
  endWait: (() => void) | undefined;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'writeHit' | 'metrics' | 'pins'>;

/** Untaken bytes of bodies. Beyond them the pipeline answers, which writes bodies in pieces. */
const MAX_UNTAKEN_BYTES = 1024 * 1024;

export class PreparedStreams {
  readonly #edge: PreparedContext;
  readonly #options: PreparedStreamsOptions;
  readonly #lines: PreparedLines;
  /** Answers that the client takes in its own time. */
  readonly #slow = new Set<SlowReply>();
  #untakenBytes = 0;
  /** A connection is for few hosts. */
  #host = { authority: '', text: '' };

  constructor(edge: PreparedContext, options: PreparedStreamsOptions) {
    this.#edge = edge;
    this.#options = options;
    this.#lines = new PreparedLines(edge, '2.0');
  }

  /** False: nothing has happened, the pipeline is to answer. */
  answer(streamId: number, head: PlainHead): boolean {
    const { clientAddress, secured, sendWhole } = this.#options;
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
    if (written === undefined) return false;
    const reply: Reply = { answer, request, startedAt, requestBytes: headBytes, written };
    const noteWritten = (isOut: boolean) =>
      this.#conclude(reply, isOut ? written.headBytes + written.bodyBytes : 0, isOut);
    if (sendWhole(streamId, written, answer.body, { noteWritten })) return true;
    if (this.#untakenBytes > 0 && this.#untakenBytes + written.bodyBytes > MAX_UNTAKEN_BYTES) return false;
    this.#sendSlowly(streamId, reply);
    return true;
  }

  #sendSlowly(streamId: number, reply: Reply): void {
    const { written, answer } = reply;
    const stream = this.#options.openStream(streamId);
    const slow: SlowReply = { stream, reply, endWait: undefined };
    const conclude = (isOut: boolean): void => {
      this.#slow.delete(slow);
      slow.endWait?.();
      this.#untakenBytes -= written.bodyBytes;
      this.#conclude(reply, written.headBytes + written.bodyBytes - stream.queuedBytes, isOut);
    };
    this.#slow.add(slow);
    this.#untakenBytes += written.bodyBytes;
    stream.owner = { ...NOT_HEARD, onOut: () => conclude(true), onLost: () => conclude(false) };
    const { frames, sectionBytes } = written.head;
    const hasBody = written.bodyBytes > 0;
    stream.sendHead(frames.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + sectionBytes), !hasBody);
    for (const piece of answer.body) stream.write(piece);
    if (hasBody) stream.end();
  }

  /** We end the connection. */
  cut(): void {
    this.#lines.cut();
  }

  /** Now and then: streams that are still here have a slow client, and few of all. */
  sweep(): void {
    for (const slow of this.#slow) {
      const { held } = slow.reply.answer;
      slow.endWait ??= held === undefined ? NOTHING : this.#edge.pins.hold(held, { cut: () => cutStream(slow) });
    }
  }

  #conclude(reply: Reply, sentBytes: number, isOut: boolean): void {
    this.#lines.conclude(reply, reply.written.logged, sentBytes, isOut);
    this.#options.onEnded();
  }

  #hostOf(authority: string): string {
    if (authority !== this.#host.authority) this.#host = { authority, text: hostOf(['host', authority]) ?? '' };
    return this.#host.text;
  }
}

/** Encodes an answer as frames of a stream that is not known yet. `undefined` if its head does not fit one frame. */
function write(answer: PreparedAnswer): WrittenAnswer<ReadyFrames> | undefined {
  const { section, headBytes } = encodeHead(answer.status, answer.headers);
  if (section.length > MAX_PAYLOAD_BYTES) return undefined;
  const bodyBytes = answer.body.reduce((sum, { length }) => sum + length, 0);
  const head = formatSection(0, section, bodyBytes === 0);
  const isJoined = bodyBytes > 0 && bodyBytes <= MAX_JOINED_BYTES;
  const last = { type: FrameType.data, flags: FrameFlag.endStream, streamId: 0 };
  const frames = ownBytes(isJoined ? [head, formatFrame(last, ownBytes(answer.body))] : [head]);
  return {
    head: { frames, sectionBytes: section.length, dataAt: isJoined ? head.length : 0 },
    headBytes,
    bodyBytes,
    logged: formatPrepared(answer, '2.0'),
  };
}

function cutStream({ stream, reply }: SlowReply): void {
  reply.isCut = true;
  stream.reset(ErrorCode.internal);
}

/** A field that is not there. */
function orAbsent(text: string): string | undefined {
  return text === '' ? undefined : text;
}

/** Up to here one piece with everything costs less. */
const MAX_JOINED_BYTES = 8 * 1024;

const NOTHING = (): void => undefined;

/** Callbacks without effect: the request is complete, and the whole answer is queued already. */
const NOT_HEARD = { onData: NOTHING, onRequestEnd: NOTHING, onRoom: NOTHING };
