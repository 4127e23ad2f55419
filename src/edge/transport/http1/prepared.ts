/**
 * Answers requests of one connection from shortcuts: head and body are sent at once, and the log line is written when
 * they have been sent.
 */
import type { Socket } from 'node:net';
import { hostOf } from '#http/request.ts';
import { AnswerWriter } from '#lib/answer-writer.ts';
import type { DirectWrite } from '#lib/node-internals/direct-write.ts';
import type { EdgeContext } from '../../context.ts';
import type { Secured } from '../../secured.ts';
import { PreparedLines, type PreparedReply } from '../../shortcuts/prepared-lines.ts';
import type { Shortcut } from '../../shortcuts/shortcut.ts';
import { KEY_MARKS, type ShortcutKey } from '../../shortcuts/shortcut-key.ts';
import { WrittenHttp1 } from '../../shortcuts/written-http1.ts';
import type { Release, StoredBody } from '../../store/store.ts';
import { HeadClient, NOTHING } from './head-client.ts';
import type { RequestHead } from './read-head.ts';

/** A connection whose requests all have the same client, so not a trusted proxy's. */
export interface PreparedConnection {
  readonly socket: Socket;
  /** Returns how many bytes written to the socket the system has taken. */
  takenBytes(): number;
  readonly clientAddress: string;
  /** The head of the request that is being read. */
  readonly head: RequestHead;
  readonly isTls: boolean;
  readonly secured: Secured | undefined;
  readonly direct: DirectWrite | undefined;
  /** The `Connection` and `Keep-Alive` lines of each head. */
  readonly keepAliveLines: string;
}

type PreparedContext = Pick<EdgeContext, 'shortcuts' | 'clock' | 'writeLog' | 'writeHit' | 'metrics' | 'pins'>;

/** An answer that is not completely sent. */
interface Reply extends PreparedReply {
  readonly answer: Shortcut;
  readonly written: WrittenHttp1;
  readonly held: StoredBody | undefined;
  readonly release: Release | undefined;
  /** Bytes given to the socket before this answer. */
  readonly givenBefore: number;
}

export class PreparedReplies {
  readonly #edge: PreparedContext;
  readonly #connection: PreparedConnection;
  readonly #client: HeadClient;
  readonly #outlet: AnswerWriter;
  readonly #lines: PreparedLines;
  /** Answers under way, in order. */
  readonly #underWay: Reply[] = [];

  constructor(edge: PreparedContext, connection: PreparedConnection) {
    this.#edge = edge;
    this.#connection = connection;
    this.#client = new HeadClient(connection.clientAddress, connection.head, edge.shortcuts);
    this.#outlet = new AnswerWriter(connection.socket, connection.direct, this.#conclude);
    this.#lines = new PreparedLines(edge, '1.1');
  }

  /**
   * Answers the request at the start of `bytes`. `givenBefore`: bytes given to the socket until now. Returns the number
   * of bytes given; 0 if nothing was done and the pipeline must answer.
   */
  answer(bytes: Buffer, givenBefore: number): number {
    if (!isPlainGet(this.#connection.head)) return 0;
    this.#client.bytes = bytes;
    const sentBytes = this.#answerPlain(bytes, givenBefore);
    this.#client.bytes = NOTHING;
    return sentBytes;
  }

  #answerPlain(bytes: Buffer, givenBefore: number): number {
    const { head, keepAliveLines } = this.#connection;
    const startedAt = this.#edge.clock();
    const shortcut = this.#find(bytes, startedAt);
    if (shortcut === undefined) return 0;
    const written = shortcut.http1?.at(startedAt) ?? new WrittenHttp1(shortcut, keepAliveLines, startedAt);
    shortcut.http1 = written;
    const body = written.hasBody ? NO_BODY : shortcut.body();
    if (body === undefined) return 0;
    const sentBytes = written.headBytes + shortcut.bodyBytes;
    const requestBytes = head.end;
    if (this.#outlet.send(written.bytes, body.pieces)) {
      const { clientAddress } = this.#client;
      const exchange = { clientAddress, startedAt, requestBytes, sentBytes };
      this.#lines.concludeOut(shortcut, written.logged, exchange, bytes, head);
    } else {
      written.waiting += 1;
      const request = this.#client.describe();
      this.#underWay.push({
        answer: shortcut,
        written,
        held: body.held,
        release: body.held?.hold(), // the socket still holds part of the body
        givenBefore,
        request,
        startedAt,
        requestBytes,
      });
    }
    return sentBytes;
  }

  /** First tries the host as the client spelled it, which is usually normalized already; then its normalized form. */
  #find(bytes: Buffer, now: number): Shortcut | undefined {
    const { shortcuts } = this.#edge;
    const { key } = shortcuts;
    const { isTls, secured, head } = this.#connection;
    key.begin(isTls);
    key.add(bytes, head.hostStart, head.hostEnd);
    addRest(key, bytes, head);
    const found = bytes[head.hostEnd - 1] === DOT ? undefined : shortcuts.find(this.#client, secured, now);
    if (found !== undefined) return found;
    const written = bytes.toString('latin1', head.hostStart, head.hostEnd);
    const host = hostOf(['host', written]);
    if (host === undefined || host === written) return undefined;
    key.begin(isTls);
    key.addText(host);
    addRest(key, bytes, head);
    return shortcuts.find(this.#client, secured, now);
  }

  /**
   * Counts the memory of the newest unsent body as held by a slow client, which may get the connection cut. Returns a
   * function that ends the claim.
   */
  hold(connection: { cut(): void }): () => void {
    const held = this.#underWay.at(-1)?.held;
    return held === undefined ? doNothing : this.#edge.pins.hold(held, connection);
  }

  /** Marks the answers under way as cut by us. */
  cut(): void {
    this.#lines.cut();
  }

  /** Concludes the oldest answer: it was sent, or the connection is gone. */
  readonly #conclude = (error?: Error | null): void => {
    const reply = this.#underWay.shift();
    if (reply === undefined) return;
    const { written, answer } = reply;
    reply.release?.();
    written.waiting -= 1;
    const isOut = error === undefined || error === null;
    const bytes = written.headBytes + answer.bodyBytes;
    const taken = Math.max(0, this.#connection.takenBytes() - reply.givenBefore);
    this.#lines.conclude(reply, written.logged, isOut ? bytes : Math.min(bytes, taken), isOut);
  };
}

/** Whether the request is a GET in which nothing but the parts of a shortcut's key matters for a stored response. */
export function isPlainGet(head: RequestHead): boolean {
  return head.isPlain && !head.isHead;
}

function addRest(key: ShortcutKey, bytes: Buffer, head: RequestHead): void {
  key.addMark(KEY_MARKS.target);
  key.add(bytes, head.targetStart, head.targetEnd);
  addField(key, KEY_MARKS.coding, bytes, head.acceptEncodingStart, head.acceptEncodingEnd);
  addField(key, KEY_MARKS.ifNoneMatch, bytes, head.ifNoneMatchStart, head.ifNoneMatchEnd);
  addField(key, KEY_MARKS.ifModifiedSince, bytes, head.ifModifiedSinceStart, head.ifModifiedSinceEnd);
}

/** Adds a field to the key; absent if start and end are equal. */
function addField(
  key: ShortcutKey,
  mark: Parameters<ShortcutKey['addMark']>[0],
  bytes: Buffer,
  start: number,
  end: number,
): void {
  if (start === end) return;
  key.addMark(mark);
  key.add(bytes, start, end);
}

const DOT = 0x2e;
function doNothing(): void {}
const NO_BODY = { pieces: [], held: undefined } as const;
