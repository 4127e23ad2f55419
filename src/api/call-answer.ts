/** An answer before it is bytes: status, headers and the envelope of its path. */

import { SUCCESS } from '#contract/domains/labels.ts';
import { type Envelope, envelopeOfPath, failureEnvelope, successEnvelope } from '#contract/envelopes.ts';
import { ERRORS, type ErrorCode } from '#contract/errors/errors.ts';
import { describeError, type ServiceError } from '#contract/errors/service-error.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { failureData } from '#contract/schema/operation.ts';

export interface CallAnswer {
  readonly http: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Envelope;
  /** Outcome for logs and metrics. */
  readonly outcome: 'ok' | ErrorCode;
  /** Absent for an unknown path. */
  readonly operation?: RouteName | undefined;
  /** Whose call it was, once that is known. */
  readonly by?: AnsweredCaller | undefined;
}

/** Ids of the caller, for logs. */
export interface AnsweredCaller {
  readonly accountId?: number | undefined;
  readonly tokenId?: number | undefined;
  readonly personId?: number | undefined;
  readonly sessionId?: number | undefined;
}

/** Whether a call was refused for a reason that says nothing about its caller. */
export function isPassing({ outcome }: CallAnswer): boolean {
  return outcome === 'notReady' || outcome === 'internal' || outcome === 'tooManyRequests';
}

/** `note` follows the word of success in `info`. */
export function answerSuccess(name: RouteName, data: unknown, locale: Locale, note: string): CallAnswer {
  return {
    http: 200,
    headers: {},
    body: successEnvelope(ROUTES[name].envelope, SUCCESS[locale] + note, data),
    outcome: 'ok',
    operation: name,
  };
}

/** Answers `/healthz` and `/readyz`. */
export function answerHealthy(): CallAnswer {
  return { http: 200, headers: {}, body: successEnvelope('cdn', 'ok', {}), outcome: 'ok' };
}

/** `path` need not be one of ours. */
export function answerFailure(error: ServiceError, path: string, locale: Locale): CallAnswer {
  const { code, parameters } = error;
  const { sms } = ERRORS[code];
  const name = code === 'pathUnknown' ? undefined : findRoute(path);
  const data = failureData(name && OPERATIONS[name].data);
  return {
    http: httpOf(code, path),
    headers: { 'x-error-code': code, ...headersOf(error) },
    body: failureEnvelope(envelopeOfPath(path), sms, describeError(code, parameters, locale), data),
    outcome: code,
    operation: findRoute(path),
  };
}

/**
 * HTTP status of an error. On the SMS base address the code in the answer says what was wrong, and HTTP says nothing of
 * it. docs/decisions/0210
 */
function httpOf(code: ErrorCode, path: string): number {
  const isInEnvelope = isSmsPath(path) && (code === 'bodyNotJson' || code === 'notReady');
  return isInEnvelope ? 200 : ERRORS[code].http;
}

export function isSmsPath(path: string): boolean {
  const name = findRoute(path);
  return name !== undefined && ROUTES[name].base === 'sms';
}

const NAMES_BY_PATH: ReadonlyMap<string, RouteName> = new Map(ROUTE_NAMES.map((name) => [ROUTES[name].path, name]));

/** `path` without its query. */
export function findRoute(path: string): RouteName | undefined {
  return NAMES_BY_PATH.get(path);
}

function headersOf({ code, parameters }: ServiceError): Record<string, string> {
  switch (code) {
    case 'tooManyRequests':
    case 'tooManyFailedTokens':
    case 'tooManySignIns':
    case 'notReady':
      return { 'retry-after': String(parameters['seconds']) };
    case 'revisionChanged':
    case 'smsRevisionChanged':
      return { 'x-current-revision': String(parameters['revision']) };
    case 'methodNotAllowed':
      return { allow: String(parameters['allow']) };
    default:
      return {};
  }
}
