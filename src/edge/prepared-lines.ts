/** The lines and counts of what shortcuts answer on one connection: those of the pipeline, put together from parts that were made before. */
import { ownBytes } from '#lib/own-bytes.ts';
import { formatAnswered, formatClient } from '#logs/line.ts';
import { CLIENT_LEFT } from './access-log.ts';
import type { EdgeContext } from './context.ts';
import type { PlainRequest, PreparedAnswer } from './shortcuts.ts';

/** An answer that is on its way. */
export interface PreparedReply {
  readonly answer: PreparedAnswer;
  readonly request: PlainRequest;
  readonly startedAt: number;
  readonly requestBytes: number;
  /** We have ended it. */
  isCut?: boolean;
}

type PreparedVersion = '1.1' | '2.0';

const HIT = { status: 'HIT' } as const;

export class PreparedLines {
  readonly #edge: Pick<EdgeContext, 'clock' | 'writeLog' | 'metrics'>;
  readonly #httpVersion: PreparedVersion;
  /** Of those that are not out: their client has not left. */
  #isCut = false;
  /** What the log says of the client, and of whom it says that. */
  #client = {
    referer: undefined as string | undefined,
    userAgent: undefined as string | undefined,
    bytes: clientBytes(undefined, undefined),
  };

  constructor(edge: Pick<EdgeContext, 'clock' | 'writeLog' | 'metrics'>, httpVersion: PreparedVersion) {
    this.#edge = edge;
    this.#httpVersion = httpVersion;
  }

  /** We end the connection. */
  cut(): void {
    this.#isCut = true;
  }

  /** `logged`: `formatPrepared` of the answer. `isOut`: all of it. */
  conclude(reply: PreparedReply, logged: Buffer, sentBytes: number, isOut: boolean): void {
    const { clock, metrics, writeLog } = this.#edge;
    const { answer, request, startedAt, requestBytes } = reply;
    const { clientAddress, target, referer, userAgent } = request;
    const endedAt = clock();
    const isCut = this.#isCut || reply.isCut === true;
    const status = isOut ? answer.status : isCut ? 503 : CLIENT_LEFT;
    metrics.countRequest(HIT, status, sentBytes);
    metrics.countPrepared();
    writeLog(answer.domainId, {
      clientAddress,
      endedAt,
      durationMs: endedAt - startedAt,
      requestBytes,
      responseBytes: sentBytes,
      host: answer.host,
      method: 'GET',
      target,
      httpVersion: this.#httpVersion,
      cacheCode: answer.cacheCode,
      status,
      contentType: answer.contentType,
      referer,
      userAgent,
      tail: isOut ? [logged, this.#clientBytes(referer, userAgent)] : undefined,
    });
  }

  #clientBytes(referer: string | undefined, userAgent: string | undefined): Buffer {
    if (referer !== this.#client.referer || userAgent !== this.#client.userAgent)
      this.#client = { referer, userAgent, bytes: clientBytes(referer, userAgent) };
    return this.#client.bytes;
  }
}

function clientBytes(referer: string | undefined, userAgent: string | undefined): Buffer {
  return ownBytes([Buffer.from(`\t${formatClient({ referer, userAgent })}`)]);
}

export function formatPrepared(
  { host, status, cacheCode, contentType }: PreparedAnswer,
  target: string,
  httpVersion: PreparedVersion,
): Buffer {
  const text = formatAnswered({ host, method: 'GET', target, httpVersion, cacheCode, status, contentType });
  return ownBytes([Buffer.from(text)]);
}
