/** Answers in the OpenAPI document: each is a success with its data, or a failure, and `status` or `code` tells which. */
import * as z from 'zod';
import { failureEnvelope } from '../envelopes.ts';
import { ERRORS, type ErrorCode } from '../errors/errors.ts';
import { describeError } from '../errors/service-error.ts';
import type { EnvelopeName } from '../routes.ts';
import type { Locale } from '../schema/locale.ts';
import { failureData } from '../schema/operation.ts';
import { type JsonSchema, type JsonSchemas, refTo } from './schema.ts';

/** What an operation on the SMS base address may answer with instead of 1000. */
const SMS_CODES = [...new Set(Object.values(ERRORS).map(({ sms }) => sms))].sort((a, b) => a - b);

/** Names of the schemas of one operation's answer. */
interface AnswerNames {
  readonly answer: string;
  readonly success: string;
  readonly failure: string;
}

const PREFIXES = { cdn: '', smsSend: 'Sms', smsApp: 'Sms' } as const satisfies Record<EnvelopeName, string>;

/** Operations that answer nothing but success share these schemas, and so do those that send. */
export function answerNames(envelope: EnvelopeName, data: z.ZodType, operation: string): AnswerNames {
  const isDone = data instanceof z.ZodBoolean;
  const kind = `${PREFIXES[envelope]}${envelope === 'smsSend' ? 'Send' : isDone ? 'Done' : ''}`;
  const own = isDone || envelope === 'smsSend' ? kind : operation;
  return { answer: `${own}Answer`, success: `${own}Success`, failure: `${kind}Failure` };
}

/** `dataRef`: the schema of the data, where the answer has any of its own. */
export function answerSchemas(
  envelope: EnvelopeName,
  data: z.ZodType,
  names: AnswerNames,
  dataRef: JsonSchema,
): JsonSchemas {
  const success = envelope === 'cdn' ? 1 : 1000;
  const failures = envelope === 'cdn' ? [0] : SMS_CODES;
  return {
    // Told apart by the constants: a discriminator of OpenAPI has texts as values, and these are numbers.
    [names.answer]: { oneOf: [refTo(names.success), refTo(names.failure)] },
    [names.success]: envelopeSchema(envelope, { const: success }, dataRef),
    [names.failure]: envelopeSchema(
      envelope,
      failures.length === 1 ? { const: failures[0] } : { enum: failures },
      failureData(data) === false ? { const: false } : { type: 'object', maxProperties: 0 },
    ),
  };
}

function envelopeSchema(envelope: EnvelopeName, status: JsonSchema, data: JsonSchema): JsonSchema {
  const integer = { type: 'integer', ...status };
  const text = { type: 'string', description: 'what was done, or what was wrong, for people' };
  if (envelope !== 'smsSend') return objectOf({ status: integer, info: text, data });
  const isSuccess = status.const !== undefined;
  return objectOf({ code: integer, sendid: { type: 'string', ...(!isSuccess && { const: '' }) }, msg: text });
}

function objectOf(properties: JsonSchemas): JsonSchema {
  return { type: 'object', required: Object.keys(properties), properties };
}

/** Codes of errors, with what each means. */
export function errorCodeSchema(locale: Locale): JsonSchema {
  return {
    type: 'string',
    description: 'The name of what went wrong, which programs may rely on',
    enum: Object.keys(ERRORS),
    'x-enum-descriptions': Object.values(ERRORS).map(({ text }) => text[locale]),
  };
}

/** HTTP statuses of requests that did not reach an operation. */
const STATUSES = [...new Set(Object.values(ERRORS).map(({ http }) => http))]
  .filter((http) => http !== 200)
  .sort((a, b) => a - b);

/** Answers to requests that did not reach an operation, by the ranges of their statuses. */
export function refusals({ failure }: AnswerNames): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(['4', '5'].map((digit) => [`${digit}XX`, { $ref: `#/components/responses/${failure}` }]));
}

const EXAMPLE = 'pathUnknown' satisfies ErrorCode;

export function refusalResponse(failure: string, envelope: EnvelopeName, data: z.ZodType, locale: Locale): JsonSchema {
  const none = failureData(data);
  return {
    description: `The request did not reach an operation, or the service failed: HTTP ${STATUSES.join(', ')}`,
    headers: { ...ANSWER_HEADERS, 'Retry-After': RETRY_AFTER },
    content: {
      'application/json': {
        schema: refTo(failure),
        example: failureEnvelope(envelope, ERRORS[EXAMPLE].sms, describeError(EXAMPLE, {}, locale), none),
      },
    },
  };
}

const RETRY_AFTER = { description: 'Seconds to wait, with 429 and 503', schema: { type: 'integer' } };

const TEXT = { schema: { type: 'string' } };

const OF_ALL = {
  'x-request-id': { description: "The request's name in the service's logs: its own X-Request-Id, or a UUID", ...TEXT },
  'x-error-code': { description: 'Only of a failure', schema: refTo('ErrorCode') },
  RateLimit: { description: "What is left of the token's rate: r requests now, all of them in t seconds", ...TEXT },
  'RateLimit-Policy': { description: "The token's rate: q requests, all of which come back in w seconds", ...TEXT },
};

const OF_SOME = {
  'x-current-revision': { description: 'The revision that is there, if `if_revision` was another one', ...TEXT },
  'Idempotency-Replayed': {
    description: '`?1`: the first answer to this Idempotency-Key; nothing was done again',
    ...TEXT,
  },
};

export const HEADER_COMPONENTS: Readonly<Record<string, JsonSchema>> = { ...OF_ALL, ...OF_SOME };

/** Header fields of answers. */
const ANSWER_HEADERS = refsTo(Object.keys(OF_ALL));

/** Header fields of the answers of an operation. */
export function answerHeaders(takes: {
  readonly key: boolean;
  readonly revision: boolean;
}): Readonly<Record<string, JsonSchema>> {
  return {
    ...ANSWER_HEADERS,
    ...(takes.revision && refsTo(['x-current-revision'])),
    ...(takes.key && refsTo(['Idempotency-Replayed'])),
  };
}

function refsTo(names: readonly string[]): Readonly<Record<string, JsonSchema>> {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
