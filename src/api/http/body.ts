/** Reading a request's body: one JSON value in UTF-8, at most 1 MiB, not compressed. */
import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyInstance } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import type { CallFields } from '../calls/call-fields.ts';
import { collectBody } from './collect-body.ts';
import type { HeldBytes } from './held-bytes.ts';

export const MAX_BODY_BYTES = 2 ** 20;

/**
 * Returns `undefined`, which no JSON is, if the body is not UTF-8 or not JSON: it is refused where a JSON object is
 * expected.
 */
export type ParseBody = (body: Uint8Array) => unknown;

export function createParseBody(): ParseBody {
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  return (body) => {
    try {
      return JSON.parse(utf8.decode(body));
    } catch {
      return undefined; // the caller refuses it
    }
  };
}

export function addBodyParser(app: FastifyInstance, parseBody: ParseBody, held: HeldBytes): void {
  app.removeAllContentTypeParsers();
  // JSON, or of no type at all; any other has been refused before.
  app.addContentTypeParser('*', async (_request: unknown, message: IncomingMessage) =>
    parseBody(await collectBody(message, MAX_BODY_BYTES, held)),
  );
}

/** What is wrong with the head of a request that has a body to read. `mayLack`: without a type it is read as JSON. */
export function refusalOfContentType(
  fields: CallFields,
  { mayLack }: { readonly mayLack: boolean },
): ServiceError | undefined {
  const type = fields['content-type'] ?? (mayLack ? 'application/json' : '');
  const encoding = fields['content-encoding'] ?? 'identity';
  const isJson = /^application\/json[\t ]*(?:;[\t ]*charset="?utf-?8"?[\t ]*)?;?$/i.test(type.trim());
  return isJson && encoding.toLowerCase() === 'identity' ? undefined : new ServiceError('contentTypeWrong');
}

/** Returns the error for a body that Fastify refused; `undefined` for other errors. */
export function refusalOfBody(error: unknown): ServiceError | undefined {
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new ServiceError('bodyTooLarge', { limit: MAX_BODY_BYTES });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new ServiceError('contentTypeWrong');
    case 'FST_ERR_CTP_EMPTY_JSON_BODY':
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
    case 'ECONNRESET':
      return new ServiceError('bodyNotJson');
    default:
      return undefined;
  }
}

function codeOf(error: unknown): string | undefined {
  return error instanceof Error && 'code' in error ? (error as FastifyError).code : undefined; // has the member
}
