/** The lines and counts of what shortcuts answer on one connection: those of the pipeline, put together from parts that were made before. */
import { ownBytes } from '#lib/own-bytes.ts';
import { AnsweredPart, ClientPart, type HitRecord } from '#logs/hit-record.ts';
import { type CacheCode, formatAddress } from '#logs/line.ts';
import type { EdgeContext } from '../context.ts';
import type { AskingClient } from '../stages/access.ts';
import { CLIENT_LEFT } from '../stages/access-log.ts';
import type { LoggedAnswer, PreparedVersion } from './ready-answer.ts';

/** An answer that is on its way. */
export interface PreparedReply {
  readonly answer: LoggedAnswer;
  readonly request: AskingClient;
  readonly startedAt: number;
  readonly requestBytes: number;
  /** We have ended it. */
  isCut?: boolean;
}

interface LinesContext extends Pick<EdgeContext, 'clock' | 'writeLog' | 'writeHit'> {
  readonly metrics: Pick<EdgeContext['metrics'], 'countPrepared'>;
}

/** Where the two fields of the client stand that a line ends with. */
export type ClientFields = Pick<
  HitRecord,
  'refererStart' | 'refererEnd' | 'userAgentStart' | 'userAgentEnd' | 'hasEscapes'
>;

/** What a line ends with, as bytes. */
interface WrittenFields {
  readonly referer: string;
  readonly userAgent: string;
  readonly bytes: Buffer;
  readonly fields: ClientFields;
}

/** One for all of a connection's. */
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
/** Longer ones are written each time: what clients choose must not fill the memory. */
const MAX_KEPT_CHARS = 1_024;
/** Stands in a line as it is. */
const PLAIN = /^[ -[\]-~]*$/;

export class PreparedLines {
  readonly #edge: LinesContext;
  readonly #httpVersion: PreparedVersion;
  /** We ended the connection: answers that are not out were cut by us, not left by their client. */
  #isCut = false;
  #clientAddress: string | undefined;
  readonly #hit = new Hit(new ClientPart(NOTHING));
  #fields = NO_FIELDS;

  constructor(edge: LinesContext, httpVersion: PreparedVersion) {
    this.#edge = edge;
    this.#httpVersion = httpVersion;
  }

  /** We end the connection. */
  cut(): void {
    this.#isCut = true;
  }

  /** `logged`: `formatPrepared` of the answer. `isOut`: all of it. */
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

  /** Mostly the same as for the last one. */
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

  /** All of it is out. Nothing of what is given is kept. */
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
