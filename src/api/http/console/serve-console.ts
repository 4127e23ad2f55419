/**
 * The console below `/console/`: its files out of memory, and its page for every other path, since the console has a path for each of
 * its own pages. No path of a request reaches the disk. docs/decisions/0655
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { typeWeight } from '#http/accept.ts';
import { chooseCoding } from '#http/content-coding.ts';
import { answerHealthy, type CallAnswer } from '../../call-answer.ts';
import { evaluateConditions } from '../conditions.ts';
import { type ConsoleFile, type ConsoleFiles, INDEX } from './console-files.ts';
import { CONSOLE_FIELDS } from './console-policy.ts';
import { NOT_BUILT_PAGE } from './not-built-page.ts';

export const CONSOLE_PATH = '/console/';
/** The console's path as people type it; leads to the other. */
export const CONSOLE_SHORT_PATH = '/console';
export const CONSOLE_ROUTE = `${CONSOLE_PATH}*`;

export interface ConsoleAnswers {
  refuse(request: FastifyRequest, reply: FastifyReply, error: ServiceError): Promise<FastifyReply>;
  /** Called once for each request that is not refused. */
  note(request: FastifyRequest, answer: CallAnswer): void;
}

/** `files`: `undefined` if the console is not built. */
export function addConsole(app: FastifyInstance, files: ConsoleFiles | undefined, { refuse, note }: ConsoleAnswers) {
  app.get(CONSOLE_SHORT_PATH, (request, reply) => {
    note(request, answerHealthy());
    return reply.header('cache-control', 'no-store').redirect(CONSOLE_PATH);
  });
  app.get(CONSOLE_ROUTE, async (request, reply) => {
    if (files === undefined) {
      note(request, { ...answerHealthy(), http: 503 }); // `notReady` would raise an alarm about the database
      return await sendNotBuilt(reply);
    }
    const path = pathBelow(request.url);
    const file = files.get(path) ?? (isForPage(path, request) ? files.get(INDEX) : undefined);
    if (file === undefined) return await refuse(request, reply, new ServiceError('pathUnknown'));
    note(request, answerHealthy());
    return await send(request, reply.headers(cachingOf(path)), file);
  });
}

/** The path as it was written: what is encoded in it names no file. */
function pathBelow(url: string): string {
  const [path = ''] = url.split('?', 1);
  return path.slice(CONSOLE_PATH.length);
}

const ASSETS = 'assets/';

/** Pages are for browsers: programs that ask for something else, and modules that are gone, get an error. */
function isForPage(path: string, { headers }: FastifyRequest): boolean {
  return !path.startsWith(ASSETS) && typeWeight(headers.accept, 'text/html') > 0;
}

/** The name of an asset has a digest of its content. All else is asked for again each time. */
function cachingOf(path: string): Readonly<Record<string, string>> {
  return {
    'cache-control': path.startsWith(ASSETS) ? 'public, max-age=31536000, immutable' : 'no-cache',
    vary: 'Accept-Encoding',
  };
}

async function send({ headers }: FastifyRequest, reply: FastifyReply, file: ConsoleFile): Promise<FastifyReply> {
  const codings = CODINGS.filter((coding) => file.coded[coding] !== undefined);
  const coding = chooseCoding(headers['accept-encoding'], codings);
  const { body, etag } = (coding !== undefined && file.coded[coding]) || file.plain;
  reply.headers({ ...CONSOLE_FIELDS, etag });
  const condition = evaluateConditions(headers, etag);
  if (condition !== 'answer') return await reply.code(condition).send();
  if (coding !== undefined) reply.header('content-encoding', coding);
  return await reply.type(file.type).send(body);
}

const CODINGS = ['br', 'gzip'] as const;

async function sendNotBuilt(reply: FastifyReply): Promise<FastifyReply> {
  const fields = { ...CONSOLE_FIELDS, 'cache-control': 'no-store' };
  return await reply.code(503).headers(fields).type('text/html; charset=utf-8').send(NOT_BUILT_PAGE);
}
