/**
 * The OpenAPI 3.1 document, made from the contract alone. Control serves it; `docs/openapi.json` is its English text, and
 * a test compares them.
 */

import { SUCCESS } from '../domains/labels.ts';
import { successEnvelope } from '../envelopes.ts';
import { OPERATIONS } from '../operations.ts';
import { SESSION_COOKIE } from '../people/session-fields.ts';
import { ADDING, isPersonal } from '../route-kinds.ts';
import { ROUTE_NAMES, ROUTES, type RouteName } from '../routes.ts';
import type { Locale, Localized } from '../schema/locale.ts';
import { COMMON } from '../schema/operation.ts';
import {
  answerHeaders,
  answerNames,
  answerSchemas,
  errorCodeSchema,
  HEADER_COMPONENTS,
  refusalResponse,
  refusals,
} from './answers.ts';
import { dataSchema, fieldSchemas, type JsonSchema, type JsonSchemas, refTo, requestSchema } from './schema.ts';
import { OPERATION_GROUPS } from './tags.ts';

export interface OpenApi {
  readonly openapi: string;
  readonly info: Readonly<Record<string, unknown>> & { readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, { readonly post: DescribedOperation }>>;
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly components: Readonly<Record<string, JsonSchemas>> & { readonly schemas: JsonSchemas };
  readonly [member: string]: unknown;
}

export interface DescribedOperation {
  /** Name of the operation in the client and on the command line. */
  readonly operationId: RouteName;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly 'x-scope': string;
  readonly 'x-access': string;
  /** References. */
  readonly parameters?: readonly { readonly $ref: string }[];
  readonly requestBody: { readonly required: true; readonly content: Content };
  readonly responses: { readonly 200: Response; readonly [range: string]: JsonSchema };
  readonly [member: string]: unknown;
}

interface Response {
  readonly description: string;
  readonly headers: Readonly<Record<string, JsonSchema>>;
  readonly content: Content;
  readonly [member: string]: unknown;
}

interface Content {
  readonly 'application/json': { readonly schema: JsonSchema; readonly example: unknown };
}

const SAMPLE_TOKEN = 'your-access-token';

const SESSION_SCHEME = {
  type: 'apiKey',
  in: 'cookie',
  name: SESSION_COOKIE,
  description:
    'The session of a browser, which /session/begin sets. Other operations take it in place of `access_token`. ' +
    'A call with it has to come from a page of the same origin (Sec-Fetch-Site).',
};

const DESCRIPTION: Localized = {
  'zh-CN':
    '所有操作均为 POST 请求，请求体为 JSON，并在其中携带 `access_token`。请求只要到达操作，就以 HTTP 200 应答：' +
    '应答中的 `status` 为 1 表示成功，0 表示失败，`info` 说明失败的原因（发送短信的操作为 `code`、`msg`，成功为 1000）。' +
    '失败时，响应头 `x-error-code` 是供程序判断的错误代码。',
  en:
    'Every operation is a POST request with a JSON body that carries `access_token`. A request that reached an operation is ' +
    'answered with HTTP 200: `status` in the answer is 1 for success and 0 for failure, and `info` says what was wrong ' +
    '(`code` and `msg` where messages are sent, and 1000 for success). With a failure, the header `x-error-code` has the ' +
    'code of the error for programs.',
};

const EXTENSION: Localized = { 'zh-CN': '扩展操作。', en: 'Our own addition to the interface document.' };

const IDEMPOTENCY_KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  description: 'A repetition within 24 hours, with the same key, token and body, gets the first answer',
  schema: { type: 'string', minLength: 1, maxLength: 255 },
};

/** Version of the interface, not of the release: the document is shown to anybody. */
const VERSION = '1.0';

/** Descriptions of data in answers are in English. */
export function buildOpenApi(locale: Locale): OpenApi {
  const described = ROUTE_NAMES.map((name) => describeOperation(name, locale));
  return {
    openapi: '3.1.0',
    info: {
      title: 'Causeway',
      version: VERSION,
      description: DESCRIPTION[locale],
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: '/', description: 'where the document is served: by default http://127.0.0.1:8700' }],
    tags: Object.entries(OPERATION_GROUPS).map(([name, description]) => ({ name, description: description[locale] })),
    // No scheme describes a token in the body: it is a required field of requests. docs/decisions/0641
    security: [],
    paths: Object.fromEntries(described.map(({ path, operation }) => [path, { post: operation }])),
    components: {
      schemas: Object.assign(
        { ErrorCode: errorCodeSchema(locale), ...fieldSchemas(locale) },
        ...described.map(({ schemas }) => schemas),
      ),
      headers: HEADER_COMPONENTS,
      securitySchemes: { session: SESSION_SCHEME },
      parameters: { [IDEMPOTENCY_KEY.name]: IDEMPOTENCY_KEY },
      responses: Object.assign({}, ...described.map(({ responses }) => responses)),
    },
  };
}

interface Described {
  readonly path: string;
  readonly operation: DescribedOperation;
  /** JsonSchemas of this operation, and those that it shares with others. */
  readonly schemas: JsonSchemas;
  readonly responses: JsonSchemas;
}

function describeOperation(name: RouteName, locale: Locale): Described {
  const { path, envelope, scope, access, ...route } = ROUTES[name];
  const { summary, request, data, sample } = OPERATIONS[name];
  const words = name.split('.').map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  const title = words.join('');
  const names = answerNames(envelope, data, title);
  const hasOwnData = names.answer.startsWith(title);
  const { schema, named } = dataSchema(data);
  const isOfPerson = isPersonal(name);
  return {
    path,
    operation: {
      operationId: name,
      tags: [name.slice(0, name.indexOf('.'))],
      summary: summary[locale],
      ...('extension' in route && { description: EXTENSION[locale], 'x-extension': true }),
      'x-scope': scope,
      'x-access': access,
      ...(scope === 'person' && { security: [{ session: [] }] }), // the cookie alone
      ...(ADDING.has(name) && { parameters: [{ $ref: `#/components/parameters/${IDEMPOTENCY_KEY.name}` }] }),
      requestBody: {
        required: true,
        content: json(refTo(`${title}Request`), {
          ...(!isOfPerson && { access_token: SAMPLE_TOKEN }),
          ...sample.request,
        }),
      },
      responses: {
        200: {
          description: `The operation was reached: \`${envelope === 'smsSend' ? 'code' : 'status'}\` says whether it was done.`,
          headers: answerHeaders({ key: ADDING.has(name), revision: 'if_revision' in request.fields }),
          content: json(refTo(names.answer), successEnvelope(envelope, SUCCESS[locale], sample.data)),
        },
        ...refusals(names),
      },
    },
    schemas: {
      [`${title}Request`]: requestSchema({ ...(!isOfPerson && COMMON.fields), ...request.fields }, locale),
      ...(hasOwnData ? { [`${title}Data`]: schema, ...named } : {}),
      ...answerSchemas(envelope, data, names, hasOwnData ? refTo(`${title}Data`) : schema),
    },
    responses: { [names.failure]: refusalResponse(names.failure, envelope, data, locale) },
  };
}

function json(schema: JsonSchema, example: unknown): Content {
  return { 'application/json': { schema, example } };
}
