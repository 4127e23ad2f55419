/** The OpenAPI 3.1 document, made from the contract alone. `docs/openapi.json` is its text, and a test compares them. */
import * as z from 'zod';
import { successEnvelope } from '#contract/envelopes.ts';
import { ERRORS } from '#contract/errors.ts';
import type { Field } from '#contract/fields.ts';
import { SUCCESS } from '#contract/labels.ts';
import { COMMON, failureData } from '#contract/operation.ts';
import { OPERATIONS } from '#contract/operations.ts';
import { type EnvelopeName, ROUTE_NAMES, ROUTES, type RouteName } from '#contract/routes.ts';

type Json = Readonly<Record<string, unknown>>;

/** HTTP statuses that any operation may answer with, besides 200. */
const REFUSALS = [...new Set(Object.values(ERRORS).map(({ http }) => http))]
  .filter((http) => http !== 200)
  .sort((a, b) => a - b);

/** What an operation on the SMS base address may answer with instead of 1000. */
const SMS_CODES = [...new Set(Object.values(ERRORS).map(({ sms }) => sms))].sort((a, b) => a - b);

const SAMPLE_TOKEN = 'your-access-token';

export function buildOpenApi(version: string): Json {
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version,
      description:
        'Every operation is a POST with a JSON body that carries `access_token`. A request that reached an operation is ' +
        'answered with HTTP 200; `status` in the answer is 1 for success and 0 for failure, and `info` says what was wrong.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: 'http://127.0.0.1:8700', description: 'the default listener of control' }],
    tags: [
      { name: 'domain', description: "A customer's domains" },
      { name: 'config', description: "A domain's settings" },
      { name: 'cache', description: 'What edges keep' },
      { name: 'sms', description: 'Sending messages, and what becomes of them' },
      { name: 'operator', description: "For operators' tokens only" },
      { name: 'smsOperator', description: "SMS, for operators' tokens only" },
    ],
    // The token is in the body, not in a header that a security scheme could describe.
    security: [],
    paths: Object.fromEntries(ROUTE_NAMES.map((name) => [ROUTES[name].path, { post: describeOperation(name) }])),
    components: {
      headers: {
        RequestId: { description: 'Names this request in our logs', schema: { type: 'string', format: 'uuid' } },
      },
      responses: { Refused: describeRefused() },
    },
  };
}

function describeOperation(name: RouteName): Json {
  const route = ROUTES[name];
  const { summary, request, data, sample } = OPERATIONS[name];
  const [tag] = name.split('.');
  return {
    operationId: name,
    tags: [tag],
    summary: summary.en,
    ...('extension' in route && { description: 'Our own addition to the interface document.', 'x-extension': true }),
    'x-scope': route.scope,
    'x-access': route.access,
    requestBody: {
      required: true,
      content: {
        'application/json': {
          schema: describeRequest({ ...COMMON.fields, ...request.fields }),
          example: { access_token: SAMPLE_TOKEN, ...sample.request },
        },
      },
    },
    responses: {
      200: {
        description: `The operation was reached: \`${route.envelope === 'smsSend' ? 'code' : 'status'}\` says whether it was done.`,
        headers: { 'x-request-id': { $ref: '#/components/headers/RequestId' } },
        content: {
          'application/json': {
            schema: describeEnvelope(route.envelope, data),
            example: successEnvelope(route.envelope, SUCCESS['zh-CN'], sample.data),
          },
        },
      },
      ...Object.fromEntries(REFUSALS.map((http) => [http, { $ref: '#/components/responses/Refused' }])),
    },
  };
}

function describeRequest(fields: Readonly<Record<string, Field>>): Json {
  const entries = Object.entries(fields);
  return {
    type: 'object',
    required: entries.filter(([, { schema }]) => !schema.safeParse(undefined).success).map(([name]) => name),
    properties: Object.fromEntries(entries.map(([name, field]) => [name, describeField(field)])),
  };
}

function describeField({ schema, expects, json, members, isEmptyAbsent }: Field): Json {
  const described = {
    ...(json ?? plain(z.toJSONSchema(schema, { io: 'input' }))),
    ...(members !== undefined && { items: describeRequest(members) }),
  };
  return {
    ...(isEmptyAbsent ? { anyOf: [described, { const: '' }] } : described),
    description: `${expects.en} / ${expects['zh-CN']}`,
  };
}

/** Success and failure as alternatives, so that a generated client sees both. */
function describeEnvelope(name: EnvelopeName, data: z.ZodType): Json {
  if (name === 'smsSend')
    return { oneOf: [sendEnvelope({ const: 1000 }, {}), sendEnvelope({ enum: SMS_CODES }, { const: '' })] };
  const none = failureData(data);
  return {
    oneOf: [
      envelope({ const: name === 'cdn' ? 1 : 1000 }, plain(z.toJSONSchema(data))),
      envelope(
        name === 'cdn' ? { const: 0 } : { enum: SMS_CODES },
        none === false ? { const: false } : { type: 'object', maxProperties: 0 },
      ),
    ],
  };
}

function sendEnvelope(code: Json, sendid: Json): Json {
  return {
    type: 'object',
    required: ['code', 'sendid', 'msg'],
    properties: {
      code: { type: 'integer', ...code },
      sendid: { type: 'string', ...sendid },
      msg: { type: 'string' },
    },
  };
}

function envelope(status: Json, data: Json): Json {
  return {
    type: 'object',
    required: ['status', 'info', 'data'],
    properties: { status: { type: 'integer', ...status }, info: { type: 'string' }, data },
  };
}

function describeRefused(): Json {
  return {
    description: 'The request did not get as far as an operation, or we failed.',
    headers: {
      'x-request-id': { $ref: '#/components/headers/RequestId' },
      'x-error-code': { description: 'A code of docs/errors.md', schema: { enum: Object.keys(ERRORS) } },
    },
    content: {
      'application/json': {
        schema: { anyOf: [envelope({}, { type: ['object', 'boolean'] }), sendEnvelope({}, { const: '' })] },
      },
    },
  };
}

/**
 * Removes what a schema needs only in a document of its own. Answers may get new members, so clients must not refuse
 * them.
 */
function plain(schema: Json): Json {
  return Object.fromEntries(
    Object.entries(schema)
      .filter(([key]) => key !== '$schema' && key !== 'additionalProperties' && !key.startsWith('~'))
      .map(([key, value]) => [key, plainValue(value)]),
  );
}

function plainValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plainValue);
  return typeof value === 'object' && value !== null ? plain(Object.fromEntries(Object.entries(value))) : value;
}
