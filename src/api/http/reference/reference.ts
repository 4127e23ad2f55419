/**
 * `GET /openapi.json` and `GET /docs`: the interface for programs and for people, in the language of the request. Both
 * are made when they are first asked for.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { buildOpenApi } from '#contract/openapi/document.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { evaluateConditions } from '../conditions.ts';
import { type Representation, represent } from '../representation.ts';
import { policyOfStyledPage } from '../security-headers.ts';
import { renderReference, STYLE } from './page.ts';

interface Kind {
  readonly type: string;
  readonly fields?: Readonly<Record<string, string>>;
  readonly make: (locale: Locale) => string;
}

const KINDS: Readonly<Record<string, Kind>> = {
  '/openapi.json': {
    type: 'application/json; charset=utf-8',
    make: (locale) => JSON.stringify(buildOpenApi(locale)),
  },
  '/docs': {
    type: 'text/html; charset=utf-8',
    fields: { 'content-security-policy': policyOfStyledPage(STYLE) },
    make: (locale) => renderReference(buildOpenApi(locale), locale),
  },
};

export const REFERENCE_PATHS: readonly string[] = Object.keys(KINDS);

export interface ReferenceAnswers {
  /** Called once for each request that is answered. */
  note(request: FastifyRequest): void;
  /** `acceptLanguage` goes before the request's own field. */
  localeOf(request: FastifyRequest, acceptLanguage: string | undefined): Locale;
}

export function addReference(app: FastifyInstance, { note, localeOf }: ReferenceAnswers): void {
  for (const [path, { type, fields = {}, make }] of Object.entries(KINDS)) {
    const made = new Map<Locale, Representation>();
    app.get(path, async (request, reply) => {
      note(request);
      const locale = localeOf(request, new URL(request.url, 'http://control').searchParams.get('lang') ?? undefined);
      const representation = made.get(locale) ?? represent(Buffer.from(make(locale)));
      made.set(locale, representation);
      return await send(request, reply.type(type).headers({ ...fields, 'content-language': locale }), representation);
    });
  }
}

/** A minute old at most where it is kept: after an update of the service the tags differ. */
const CACHING = { 'cache-control': 'public, max-age=60', vary: 'Accept-Language' };

async function send({ headers }: FastifyRequest, reply: FastifyReply, { body, etag }: Representation) {
  reply.headers({ ...CACHING, etag });
  const condition = evaluateConditions(headers, etag);
  return condition === 'answer' ? await reply.send(body) : await reply.code(condition).send();
}
