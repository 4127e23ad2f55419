/**
 * `GET /openapi.json` and `GET /docs`: the interface for programs and for people, in the language of the request. Both
 * are made when they are first asked for.
 */
import { createHash } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { buildOpenApi } from '#contract/openapi/document.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { evaluateConditions } from '../conditions.ts';
import { renderReference } from './page.ts';

interface Representation {
  readonly body: Buffer;
  readonly etag: string;
}

interface Kind {
  readonly type: string;
  readonly make: (locale: Locale) => string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    make: (locale) => JSON.stringify(buildOpenApi(locale)),
  },
  '/docs': { type: 'text/html; charset=utf-8', make: (locale) => renderReference(buildOpenApi(locale), locale) },
};

export const REFERENCE_PATHS: readonly string[] = Object.keys(KINDS);

export interface ReferenceAnswers {
  /** Called once for each request that is answered. */
  note(request: FastifyRequest): void;
  /** `acceptLanguage` goes before the request's own field. */
  localeOf(request: FastifyRequest, acceptLanguage: string | undefined): Locale;
}

export function addReference(app: FastifyInstance, { note, localeOf }: ReferenceAnswers): void {
  for (const [path, { type, make }] of Object.entries(KINDS)) {
    const made = new Map<Locale, Representation>();
    app.get(path, async (request, reply) => {
      note(request);
      const locale = localeOf(request, new URL(request.url, 'http://control').searchParams.get('lang') ?? undefined);
      const representation = made.get(locale) ?? represent(make(locale));
      made.set(locale, representation);
      return await send(request, reply.type(type).header('content-language', locale), representation);
    });
  }
}

function represent(text: string): Representation {
  return { body: Buffer.from(text), etag: `"${createHash('sha256').update(text).digest('base64url').slice(0, 22)}"` };
}

/** A minute old at most where it is kept: after an update of the service the tags differ. */
const CACHING = { 'cache-control': 'public, max-age=60', vary: 'Accept-Language' };

async function send({ headers }: FastifyRequest, reply: FastifyReply, { body, etag }: Representation) {
  reply.headers({ ...CACHING, etag });
  const condition = evaluateConditions(headers, etag);
  return condition === 'answer' ? await reply.send(body) : await reply.code(condition).send();
}
