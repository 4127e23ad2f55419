/** How a call fails: one error for all ways, with what the service said of it. */
import type { ErrorCode } from '../contract/errors/errors.ts';

/**
 * `refused`: the service answered that it did not do it. `unreachable`, `timeout`, `aborted`: there is no answer, and
 * it may have been done. `unexpected`: the answer is not one of this service.
 */
export type ClientErrorKind = 'refused' | 'unreachable' | 'timeout' | 'aborted' | 'unexpected';

interface ClientErrorDetails {
  readonly kind: ClientErrorKind;
  /** `status` (or `code`, of an operation that sends) of the envelope. */
  readonly status?: number | undefined;
  /** Status of the HTTP answer. */
  readonly http?: number | undefined;
  readonly requestId?: string | undefined;
  /** Row of the error table; a newer service may send one that this table lacks. */
  readonly code?: ErrorCode | undefined;
  /** When the service says that calls come too fast; then it did nothing. */
  readonly retryAfterSeconds?: number | undefined;
  /** Current revision of the domain's settings if `if_revision` was another one. */
  readonly currentRevision?: string | undefined;
  readonly cause?: unknown;
}

export class ClientError extends Error {
  readonly kind: ClientErrorKind;
  /** What the service said, or what went wrong. */
  readonly info: string;
  readonly status: number | undefined;
  readonly http: number | undefined;
  readonly requestId: string | undefined;
  readonly code: ErrorCode | undefined;
  readonly retryAfterSeconds: number | undefined;
  readonly currentRevision: string | undefined;

  constructor(info: string, details: ClientErrorDetails) {
    super(info, { cause: details.cause });
    this.name = 'ClientError';
    this.kind = details.kind;
    this.info = info;
    this.status = details.status;
    this.http = details.http;
    this.requestId = details.requestId;
    this.code = details.code;
    this.retryAfterSeconds = details.retryAfterSeconds;
    this.currentRevision = details.currentRevision;
  }
}
