/**
 * Answers requests of one connection from shortcuts: head and body are sent at once, and the log line is written when
 * they have been sent.
 */
import { hostOf } from '#http/request.ts';
import { ownBytes } from '#lib/own-bytes.ts';
import type { EdgeContext } from '../../context.ts';
import type { Secured } from '../../secured.ts';
import { orAbsent, type RememberedClient } from '../../shortcuts/access-memo.ts';
import { PreparedLines, type PreparedReply } from '../../shortcuts/prepared-lines.ts';
import { formatPrepared, type ReadyBody, type WrittenHttp2 } from '../../shortcuts/ready-answer.ts';
import type { Shortcut } from '../../shortcuts/shortcut.ts';
import type { Release } from '../../store/store.ts';
import {
  FRAME_HEAD_BYTES,
  FrameFlag,
  FrameType,
  formatFrame,
  formatSection,
  Http2ErrorCode,
  MAX_PAYLOAD_BYTES,
} from './frames.ts';
import { encodeSection } from './head-fields.ts';
import type { PlainHead } from './plain.ts';
import type { Outgoing } from './sender.ts';
import type { Http2Stream } from './stream.ts';

export interface PreparedStreamsOptions {
  readonly clientAddress: string;
  readonly secured: Secured;
  /**
   * Sends the whole answer at once. Returns false if it does not fit. `outgoing` is notified when it is sent or lost.
   */
  sendWhole(streamId: number, frames: WrittenHttp2, body: WholeBody, outgoing: Outgoing): boolean;
  /** Opens a stream for an answer that the client does not take at once. */
  openStream(streamId: number): Http2Stream;
  /** Called when an answer was sent or lost. */
  readonly onEnded: () => void;
}

export interface WholeBody {
  readonly sizeBytes: number;
  readonly pieces: readonly Buffer[];
}

interface Reply extends PreparedReply {
  readonly answer: Shortcut;
  readonly written: WrittenHttp2;
  readonly body: ReadyBody;
  /** Ends the hold on the body. */
  readonly release: Release | undefined;
}

interface SlowReply {
  readonly stream: Http2Stream;
  readonly reply: Reply;
  /** Releases the body that a slow client keeps in memory; `undefined` while it is not pinned. */
  endWait: (() => void) | undefined;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'writeHit' | 'metrics' | 'pins'>;

/** Limit of untaken body bytes. Beyond it the pipeline answers, which writes bodies in pieces. */
const MAX_UNTAKEN_BYTES = 1024 * 1024;

export class PreparedStreams {
  readonly #edge: PreparedContext;
  readonly #options: PreparedStreamsOptions;
  readonly #lines: PreparedLines;
  readonly #client: Writable<RememberedClient>;
  /** Answers that the client takes in its own time. */
  readonly #slow = new Set<SlowReply>();
  #untakenBytes = 0;
  /** The last normalized authority: a connection serves few hosts. */
  #host = { authority: '', text: '' };

  constructor(edge: PreparedContext, options: PreparedStreamsOptions) {
    this.#edge = edge;
    this.#options = options;
    this.#lines = new PreparedLines(edge, '2.0');
    this.#client = {
      clientAddress: options.clientAddress,
      referer: undefined,
      userAgent: undefined,
      passed: { access: undefined, userAgent: undefined },
      counted: undefined,
    };
  }

  /** Answers a request. Returns false if nothing was done and the pipeline must answer. */
  answer(streamId: number, head: PlainHead): boolean {
    const { shortcuts, clock } = this.#edge;
    const { secured, sendWhole } = this.#options;
    const client = this.#client;
    const startedAt = clock();
    shortcuts.key.fill({
      isTls: true,
      host: this.#hostOf(head.authority),
      target: head.target,
      acceptEncoding: head.acceptEncoding,
      ifNoneMatch: head.ifNoneMatch,
      ifModifiedSince: head.ifModifiedSince,
    });
    client.referer = orAbsent(head.referer);
    client.userAgent = orAbsent(head.userAgent);
    const answer = shortcuts.find(client, secured, startedAt);
    const body = answer?.body();
    if (answer === undefined || body === undefined) return false;
    const written = writtenAt(answer, startedAt);
    if (written === undefined) return false;
    const { clientAddress, referer, userAgent } = client;
    const request = { clientAddress, referer, userAgent };
    const release = body.held?.hold(); // it is sent at the end of the turn at the earliest
    const reply: Reply = { answer, request, startedAt, requestBytes: head.headBytes, written, body, release };
    const { bodyBytes: sizeBytes } = answer;
    const noteWritten = (isOut: boolean) => this.#conclude(reply, isOut ? written.headBytes + sizeBytes : 0, isOut);
    if (sendWhole(streamId, written, { sizeBytes, pieces: body.pieces }, { noteWritten })) return true;
    if (this.#untakenBytes > 0 && this.#untakenBytes + sizeBytes > MAX_UNTAKEN_BYTES) {
      release?.();
      return false;
    }
    this.#sendSlowly(streamId, reply);
    return true;
  }

  #sendSlowly(streamId: number, reply: Reply): void {
    const { written, body } = reply;
    const { bodyBytes } = reply.answer;
    const stream = this.#options.openStream(streamId);
    const slow: SlowReply = { stream, reply, endWait: undefined };
    const conclude = (isOut: boolean): void => {
      this.#slow.delete(slow);
      slow.endWait?.();
      this.#untakenBytes -= bodyBytes;
      this.#conclude(reply, written.headBytes + bodyBytes - stream.queuedBytes, isOut);
    };
    this.#slow.add(slow);
    this.#untakenBytes += bodyBytes;
    stream.owner = { ...NOT_HEARD, onOut: () => conclude(true), onLost: () => conclude(false) };
    const { frames, sectionBytes } = written;
    const hasBody = bodyBytes > 0;
    stream.sendHead(frames.subarray(FRAME_HEAD_BYTES, FRAME_HEAD_BYTES + sectionBytes), !hasBody);
    for (const piece of body.pieces) stream.write(piece);
    if (hasBody) stream.end();
  }

  /** Marks the answers under way as cut by us. */
  cut(): void {
    this.#lines.cut();
  }

  /** Called regularly. Pins the bodies of streams that are still open: their clients are slow. */
  sweep(): void {
    for (const slow of this.#slow) {
      const { held } = slow.reply.body;
      slow.endWait ??= held === undefined ? NOTHING : this.#edge.pins.hold(held, { cut: () => cutStream(slow) });
    }
  }

  #conclude(reply: Reply, sentBytes: number, isOut: boolean): void {
    reply.release?.();
    this.#lines.conclude(reply, reply.written.logged, sentBytes, isOut);
    this.#options.onEnded();
  }

  #hostOf(authority: string): string {
    if (authority !== this.#host.authority) this.#host = { authority, text: hostOf(['host', authority]) ?? '' };
    return this.#host.text;
  }
}

type Writable<T> = { -readonly [K in keyof T]: T[K] };

/** Returns the answer's frames at `now`; `undefined` if its head does not fit one frame. */
function writtenAt(answer: Shortcut, now: number): WrittenHttp2 | undefined {
  const last = answer.http2;
  if (last !== undefined && now >= last.from && now < last.to) return last;
  answer.http2 = write(answer, now, last?.logged ?? formatPrepared(answer, '2.0'));
  return answer.http2;
}

function write(answer: Shortcut, now: number, logged: WrittenHttp2['logged']): WrittenHttp2 | undefined {
  const { name, value, changesAt } = answer.timed(now);
  const { section, headBytes } = encodeSection(answer.status, answer.headersWith(name, value));
  if (section.length > MAX_PAYLOAD_BYTES) return undefined;
  const { bodyBytes, kept } = answer;
  const head = formatSection(0, section, bodyBytes === 0);
  const isJoined = bodyBytes > 0 && bodyBytes <= MAX_JOINED_BYTES && kept !== undefined;
  const last = { type: FrameType.data, flags: FrameFlag.endStream, streamId: 0 };
  const frames = ownBytes(isJoined ? [head, formatFrame(last, ownBytes(kept.pieces))] : [head]);
  const dataAt = isJoined ? head.length : 0;
  return { frames, sectionBytes: section.length, dataAt, headBytes, logged, from: now, to: changesAt };
}

function cutStream({ stream, reply }: SlowReply): void {
  reply.isCut = true;
  stream.reset(Http2ErrorCode.internal);
}

/** Largest body that is cheaper to join with its head in one piece. */
const MAX_JOINED_BYTES = 8 * 1024;

const NOTHING = (): void => undefined;

/** Callbacks without effect: the request is complete, and the whole answer is queued already. */
const NOT_HEARD = { onData: NOTHING, onRequestEnd: NOTHING, onRoom: NOTHING };
