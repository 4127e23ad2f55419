/**
 * Log lines and counts for the prepared answers of one connection: the same as the pipeline's, assembled from parts
 * made in advance.
 */
import { ownBytes } from '#lib/own-bytes.ts';
import { AnsweredPart, ClientPart, type HitRecord } from '#logs/hit-record.ts';
import { type CacheCode, formatAddress } from '#logs/line.ts';
import type { EdgeContext } from '../context.ts';
import { CLIENT_LEFT } from '../stages/access-log.ts';
import type { AskingClient } from './access-memo.ts';
import type { LoggedAnswer, PreparedVersion } from './ready-answer.ts';

/** An answer in flight. */
export interface PreparedReply {
  readonly answer: LoggedAnswer;
  readonly request: AskingClient;
  readonly startedAt: number;
  readonly requestBytes: number;
  /** The edge has ended the stream. */
  isCut?: boolean;
}

interface LinesContext extends Pick<EdgeContext, 'clock' | 'writeLog' | 'writeHit'> {
  readonly metrics: Pick<EdgeContext['metrics'], 'countPrepared'>;
}

/** Positions of the Referer and User-Agent, the last fields of a line. */
export type ClientFields = Pick<
  HitRecord,
  'refererStart' | 'refererEnd' | 'userAgentStart' | 'userAgentEnd' | 'hasEscapes'
>;

/** The last two fields of a line, as bytes. */
interface WrittenFields {
  readonly referer: string;
  readonly userAgent: string;
  readonly bytes: Buffer;
  readonly fields: ClientFields;
}

/** One object for all hits of a connection. */
class Hit implements HitRecord {
  domainId = 0;
  endedAt = 0;
  durationMs = 0;
  requestBytes = 0;
  responseBytes = 0;
  cacheCode: CacheCode = 'TCP_MEM_HIT';
  status = 0;
  answered = NO_ANSWER;
  client: ClientPart;
  fields: Buffer = NOTHING;
  refererStart = 0;
  refererEnd = 0;
  userAgentStart = 0;
  userAgentEnd = 0;
  hasEscapes = false;

  constructor(client: ClientPart) {
    this.client = client;
  }
}

const NOTHING = Buffer.alloc(0);
const NO_ANSWER = new AnsweredPart(NOTHING);
const NO_FIELDS: WrittenFields = {
  referer: '',
  userAgent: '',
  bytes: NOTHING,
  fields: { refererStart: 0, refererEnd: 0, userAgentStart: 0, userAgentEnd: 0, hasEscapes: false },
};
/** Longer fields are written each time, so that clients' choices do not fill the memory. */
const MAX_KEPT_CHARS = 1_024;
/** Text that needs no escapes in a line. */
const PLAIN = /^[ -[\]-~]*$/;

export class PreparedLines {
  readonly #edge: LinesContext;
  readonly #httpVersion: PreparedVersion;
  /** The edge ended the connection: unfinished answers were cut by the edge, not left by their client. */
  #isCut = false;
  #clientAddress: string | undefined;
  readonly #hit = new Hit(new ClientPart(NOTHING));
  #fields = NO_FIELDS;

  constructor(edge: LinesContext, httpVersion: PreparedVersion) {
    this.#edge = edge;
    this.#httpVersion = httpVersion;
  }

  /** Notes that the edge ends the connection. */
  cut(): void {
    this.#isCut = true;
  }

  /** Logs and counts an answer. `logged` is its `formatPrepared`; `isOut`: it was sent whole. */
  conclude(reply: PreparedReply, logged: AnsweredPart, sentBytes: number, isOut: boolean): void {
    const { answer, request, startedAt, requestBytes } = reply;
    const { clientAddress, referer = '', userAgent = '' } = request;
    if (!isOut) {
      this.#concludeCut(reply, sentBytes);
      return;
    }
    const { bytes, fields } = this.#writeFields(referer, userAgent);
    this.concludeOut(answer, logged, { clientAddress, startedAt, requestBytes, sentBytes }, bytes, fields);
  }

  /** Returns the last result if the fields are the same, as they mostly are. */
  #writeFields(referer: string, userAgent: string): WrittenFields {
    const last = this.#fields;
    if (referer === last.referer && userAgent === last.userAgent) return last;
    const text = referer + userAgent;
    const refererEnd = referer.length;
    const userAgentEnd = text.length;
    const hasEscapes = !PLAIN.test(text);
    const fields = { refererStart: 0, refererEnd, userAgentStart: refererEnd, userAgentEnd, hasEscapes };
    const written = { referer, userAgent, bytes: Buffer.from(text, 'latin1'), fields };
    if (text.length <= MAX_KEPT_CHARS) this.#fields = written;
    return written;
  }

  /** Logs and counts an answer that was sent whole. Keeps none of the arguments. */
  concludeOut(
    answer: LoggedAnswer,
    logged: AnsweredPart,
    exchange: Exchange,
    bytes: Buffer,
    fields: ClientFields,
  ): void {
    const { clock, metrics, writeHit } = this.#edge;
    const { startedAt, sentBytes } = exchange;
    const hit = this.#hit;
    this.#noteClient(exchange.clientAddress);
    hit.domainId = answer.domainId;
    hit.status = answer.status;
    hit.cacheCode = answer.cacheCode;
    hit.answered = logged;
    hit.endedAt = clock();
    hit.durationMs = hit.endedAt - startedAt;
    hit.requestBytes = exchange.requestBytes;
    hit.responseBytes = sentBytes;
    hit.fields = bytes;
    hit.refererStart = fields.refererStart;
    hit.refererEnd = fields.refererEnd;
    hit.userAgentStart = fields.userAgentStart;
    hit.userAgentEnd = fields.userAgentEnd;
    hit.hasEscapes = fields.hasEscapes;
    metrics.countPrepared(answer.status, sentBytes);
    writeHit(hit);
    hit.fields = NOTHING;
  }

  #noteClient(address: string): void {
    if (address === this.#clientAddress) return;
    this.#clientAddress = address;
    this.#hit.client = new ClientPart(ownBytes([Buffer.from(formatAddress(address))]));
  }

  #concludeCut({ answer, request, startedAt, requestBytes, isCut }: PreparedReply, sentBytes: number): void {
    const { clock, metrics, writeLog } = this.#edge;
    const { domainId, host, target, contentType, cacheCode } = answer;
    const { clientAddress, referer, userAgent } = request;
    const endedAt = clock();
    const status = this.#isCut || isCut === true ? 503 : CLIENT_LEFT;
    metrics.countPrepared(status, sentBytes);
    writeLog(domainId, {
      clientAddress,
      endedAt,
      durationMs: endedAt - startedAt,
      requestBytes,
      responseBytes: sentBytes,
      host,
      method: 'GET',
      target,
      httpVersion: this.#httpVersion,
      cacheCode,
      status,
      contentType,
      referer,
      userAgent,
    });
  }
}

interface Exchange {
  readonly clientAddress: string;
  readonly startedAt: number;
  readonly requestBytes: number;
  readonly sentBytes: number;
}
