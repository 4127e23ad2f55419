/**
 * All that control answers, by node:http and Fastify: the management and SMS interfaces, `/healthz`, `/readyz`, the console and
 * downloads of logs. What is HTTP is decided here (paths, methods, body, sizes); what a call does, in `dispatch.ts`.
 */
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { ServiceError } from '#contract/errors/service-error.ts';
import { STREAMING } from '#contract/route-kinds.ts';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import type { Locale } from '#contract/schema/locale.ts';
import { ALONE } from '#db/peers/peers.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { parseAbsoluteForm, toOriginForm } from '#http/absolute-form.ts';
import { createHttpReader } from '#lib/node-internals/http-reader.ts';
import { answerFailure, answerHealthy, type CallAnswer, findRoute, isSmsPath } from '../call-answer.ts';
import { callFieldsOf } from '../calls/call-fields.ts';
import type { AnswerCall, CallOptions } from '../calls/calls.ts';
import { notReady, toServiceError } from '../calls/dispatch.ts';
import { endUnknown, type Requester, type Requesters, requestIdOf, saidBy } from '../calls/requester.ts';
import type { Previews } from '../previews/previews.ts';
import type { Watches } from '../watch/watches.ts';
import { fieldsOf } from './answer-fields.ts';
import { addBodyParser, MAX_BODY_BYTES, type ParseBody, refusalOfBody, refusalOfContentType } from './body.ts';
import { type AnswerBroken, answerConnect } from './broken-request.ts';
import type { ConsoleFiles } from './console/console-files.ts';
import { addConsole, CONSOLE_ROUTE, CONSOLE_SHORT_PATH } from './console/serve-console.ts';
import { drain } from './discard-body.ts';
import { addLogDownloads, LOG_ROUTE } from './downloads/log-downloads.ts';
import { addRecordingDownloads, RECORDING_ROUTE } from './downloads/recording-downloads.ts';
import { addTails, TAIL_ROUTE } from './downloads/tails.ts';
import { addFrontPage, FRONT_PATH } from './front-page.ts';
import type { HeldBytes } from './held-bytes.ts';
import { type InTurn, serveInTurn } from './in-turn.ts';
import { KEEP_ALIVE_MS, MAX_WAITING, REQUEST_TIMEOUT_MS } from './limits.ts';
import { addPreviewRoute, PREVIEW_ROUTE } from './preview-route.ts';
import { addReference, REFERENCE_PATHS } from './reference/reference.ts';
import type { ReadLines } from './request-lines.ts';
import { type AnsweredRequest, HEALTH_PATHS, type WriteRequestLog } from './request-log.ts';
import { addWatchRoute } from './watch-route.ts';

export interface AppParts {
  readonly options: CallOptions & { readonly locale: Locale; readonly console?: ConsoleSite | undefined };
  readonly requesters: Requesters;
  readonly answerCall: AnswerCall;
  readonly parseBody: ParseBody;
  readonly held: HeldBytes;
  readonly writeRequestLog: WriteRequestLog;
  readonly answerBroken: AnswerBroken;
  /** Counts an answer that has no line in the log. */
  readonly count: (answer: CallAnswer) => void;
  readonly lines: ReadLines;
  readonly watches: Watches;
  readonly previews: Previews;
  /** Fields of every answer. */
  readonly security: Readonly<Record<string, string>>;
}

/** The console that is served; without files: it is not built. */
export interface ConsoleSite {
  readonly files: ConsoleFiles | undefined;
}

/** Limit below the time that probes usually wait. */
const READY_LIMIT_MS = 2000;

/** `app` does not listen yet. */
export function createApp(parts: AppParts): { readonly app: FastifyInstance } & InTurn {
  const { options, security, parseBody, lines } = parts;
  const answering = createAnswering(parts);
  const { send, writeLine } = answering;
  const app = openFastify(parts, async (request, reply, answer) => {
    const sent = await send(request, reply, answer);
    writeLine(request, reply); // no hook runs for these
    return sent;
  });
  app.addHook('onResponse', (request, reply, next) => {
    writeLine(request, reply);
    next();
  });
  addBodyParser(app, parseBody, parts.held);
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(security);
    const refusal = refusalOfHead(request, lines);
    if (refusal !== undefined) send(request, reply, refusal).catch(next);
    else if (isForServer(request)) answering.sendOptions(request, reply).catch(next);
    else next();
  });
  // Hooks run before it and have answered already; it is here so that Fastify's own never speaks.
  app.setNotFoundHandler((request, reply) => send(request, reply, new ServiceError('pathUnknown')));
  app.setErrorHandler((error, request, reply) =>
    send(request, reply, refusalOfBody(error) ?? toServiceError(error, { requestId: request.id }, options.log)),
  );
  addOperations(app, parts, send);
  addWatchRoute(app, { ...parts, ...answering, requesterOf });
  addPreviewRoute(app, { ...options, ...options.logs, ...parts, ...answering, requesterOf });
  addHealth(app, options, send);
  const note = (request: FastifyRequest) => answering.note(request, answerHealthy());
  addFrontPage(app, { hasConsole: options.console !== undefined, note });
  if (options.console !== undefined) addConsole(app, options.console.files, { refuse: send, note: answering.note });
  addReference(app, { note, localeOf: answering.localeOf });
  addLogDownloads(app, { ...options, ...options.logs }, { refuse: send, note });
  addRecordingDownloads(app, { ...options, ...options.logs }, { refuse: send, note });
  const endTails = addTails(app, { ...options, ...options.logs }, { refuse: send, note });
  app.addHook('preClose', async () => {
    endTails();
    parts.watches.end();
    parts.previews.end();
  });
  // Expectations that we do not know are ignored (RFC 9110 §10.1.1); Node would answer without an envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  const inTurn = serveInTurn(app.server, MAX_WAITING);
  lines.watch(app.server);
  if (options.tls !== undefined) readLinesInTls(app.server, lines);
  app.server.prependListener('secureConnection', endUnknown);
  app.server.on('connect', answerConnect(options.locale, parts.count));
  return { app, ...inTurn };
}

/** Filters request lines of TLS connections; on plain ones `bare/` reads first. */
function readLinesInTls(server: FastifyInstance['server'], { openFilter }: ReadLines): void {
  const read = createHttpReader(server, { openFilter, event: 'secureConnection' });
  server
    .removeAllListeners('secureConnection')
    .on('secureConnection', (socket: Socket) => read(socket, Buffer.alloc(0)));
}

type Send = (request: FastifyRequest, reply: FastifyReply, answer: CallAnswer | ServiceError) => Promise<FastifyReply>;

function openFastify({ options: { tls }, answerBroken, lines }: AppParts, sendRefusal: Send): FastifyInstance {
  const settings = {
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    logger: false,
    // Node would answer without an envelope; `refusalOfHead` refuses it.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    // RFC 9112 §3.2.2: every host is answered alike; `lines` has seen whether two are named.
    rewriteUrl: ({ url = '' }: { readonly url?: string | undefined }) => toOriginForm(url),
    genReqId: ({ headers }: Pick<IncomingMessage, 'headers'>) => requestIdOf(callFieldsOf(headers)['x-request-id']),
    // A path that cannot be decoded is a path that we do not have.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendRefusal(request, reply, refusalOfTarget(request, lines) ?? new ServiceError('pathUnknown')),
    clientErrorHandler: answerBroken,
  };
  if (tls === undefined) return fastify(settings);
  // What differs is the type of its raw server, which nothing here looks at.
  const https = { ...settings.http, cert: tls.cert, key: tls.key };
  return fastify({ ...settings, https }) as unknown as FastifyInstance;
}

interface Answering {
  /** Sends an answer with the headers that every answer has, and notes it for the log. */
  readonly send: Send;
  /** Answers `OPTIONS *`. */
  sendOptions(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply>;
  /** What the request's line will say. */
  note(request: FastifyRequest, answer: CallAnswer): void;
  /** Language of an answer; `acceptLanguage` goes before that of the request. */
  localeOf(request: FastifyRequest, acceptLanguage?: string): Locale;
  /** Once. */
  writeLine(request: FastifyRequest, reply: FastifyReply): void;
}

function createAnswering({ requesters, writeRequestLog }: AppParts): Answering {
  const notes = new WeakMap<FastifyRequest, Pick<AnsweredRequest, 'path' | 'address' | 'answer'>>();
  const note = (request: FastifyRequest, answer: CallAnswer) =>
    void notes.set(request, { path: pathOf(request), address: requesters.addressOf(requesterOf(request)), answer });
  const localeOf: Answering['localeOf'] = (request, acceptLanguage) => {
    const requester = requesterOf(request);
    return requesters.localeOf({ ...requester, acceptLanguage: acceptLanguage ?? requester.acceptLanguage });
  };
  return {
    note,
    localeOf,
    send: async (request, reply, outcome) => {
      const locale = localeOf(request);
      const answer = outcome instanceof ServiceError ? answerFailure(outcome, pathOf(request), locale) : outcome;
      note(request, answer);
      const isDrained = await drain(request.raw);
      // Closing waits for connections, and one that is kept would hold it up.
      if (!isDrained || !request.server.server.listening) reply.header('connection', 'close');
      return await reply.code(answer.http).headers(fieldsOf(answer, request.id)).send(JSON.stringify(answer.body));
    },
    sendOptions: async (request, reply) => {
      note(request, answerHealthy());
      if (!(await drain(request.raw))) reply.header('connection', 'close');
      return await reply.code(200).headers({ allow: ALLOWED, 'cache-control': 'no-store' }).send();
    },
    writeLine: (request, reply) => {
      const answered = notes.get(request);
      if (answered === undefined) return;
      notes.delete(request);
      const { id: requestId, body } = request;
      writeRequestLog({ ...answered, requestId, body, durationMs: reply.elapsedTime });
    },
  };
}

function addOperations(app: FastifyInstance, { answerCall }: AppParts, send: Send): void {
  for (const name of ROUTE_NAMES.filter((each) => !STREAMING.has(each))) {
    app.post(ROUTES[name].path, async (request, reply) => {
      const { body, id: requestId } = request;
      const answer = await answerCall({ name, body, requester: requesterOf(request), requestId });
      return await send(request, reply, answer);
    });
  }
}

/**
 * `/healthz`: the process answers. `/readyz`: the database does too, soon enough, and nothing keeps this control from
 * its part of the work.
 */
function addHealth(app: FastifyInstance, { db, log, peers = ALONE }: CallOptions, send: Send): void {
  app.get('/healthz', (request, reply) => send(request, reply, answerHealthy()));
  app.get('/readyz', async (request, reply) => {
    if (peers.obstacle !== undefined) return await send(request, reply, notReady());
    try {
      await within(READY_LIMIT_MS, readConfigHead(db.query));
    } catch (error) {
      log.error({ err: error, requestId: request.id }, 'the database is not responding');
      return await send(request, reply, notReady());
    }
    return await send(request, reply, answerHealthy());
  });
}

/** Rejects when `work` takes longer; that goes on unseen. */
async function within<T>(limitMs: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`no answer within ${limitMs} ms`)), limitMs);
  try {
    return await Promise.race([work, late.promise]);
  } finally {
    clearTimeout(timer);
  }
}

/** What can be refused before the body is read. */
function refusalOfHead(request: FastifyRequest, lines: ReadLines): ServiceError | undefined {
  const { httpVersion, rawHeaders } = request.raw;
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return new ServiceError('requestMalformed'); // RFC 9112 §2.3
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return new ServiceError('requestMalformed'); // RFC 9112 §3.2
  const malformed = refusalOfTarget(request, lines);
  if (malformed !== undefined || isForServer(request)) return malformed;
  // The router decodes a path; ours are taken as they are written.
  const path = pathOf(request);
  const mayLack = isSmsPath(path);
  if (!request.is404 && isAsWritten(path, request.routeOptions.url ?? ''))
    return request.method === 'POST' ? refusalOfContentType(callFieldsOf(request.headers), { mayLack }) : undefined;
  if (isReadOnly(request.server, path)) return new ServiceError('methodNotAllowed', { allow: 'GET, HEAD' });
  return findRoute(path) === undefined
    ? new ServiceError('pathUnknown')
    : new ServiceError('methodNotAllowed', { allow: 'POST' });
}

/** Routes whose paths go on after what is written here. */
const OPEN_ROUTES = [LOG_ROUTE, RECORDING_ROUTE, TAIL_ROUTE, PREVIEW_ROUTE, CONSOLE_ROUTE];

const READ_ONLY_PATHS = [FRONT_PATH, ...HEALTH_PATHS, ...REFERENCE_PATHS, CONSOLE_SHORT_PATH];

function isAsWritten(path: string, route: string): boolean {
  return OPEN_ROUTES.includes(route) ? path.startsWith(route.slice(0, -1)) : path === route;
}

/** Whether the path can be read, and nothing else be done with it. */
function isReadOnly(app: FastifyInstance, path: string): boolean {
  const open = OPEN_ROUTES.find((route) => path.startsWith(route.slice(0, -1)));
  const route = READ_ONLY_PATHS.includes(path) ? path : open;
  return route !== undefined && app.hasRoute({ method: 'GET', url: route });
}

/** Only an invalid URI is still in absolute form here. */
function refusalOfTarget({ url, raw }: FastifyRequest, lines: ReadLines): ServiceError | undefined {
  const isValid = parseAbsoluteForm(url) !== 'invalid' && !lines.isMalformed(raw);
  return isValid ? undefined : new ServiceError('requestMalformed');
}

/** Whether the request asks about the server, not a resource. RFC 9110 §9.3.7 */
function isForServer({ method, url }: FastifyRequest): boolean {
  return method === 'OPTIONS' && url === '*';
}

/** All methods that some path takes. */
const ALLOWED = 'GET, HEAD, POST, OPTIONS';

/** Names and values in turn. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

function requesterOf({ socket, headers }: FastifyRequest): Requester {
  return { peer: socket.remoteAddress, ...saidBy(callFieldsOf(headers)) };
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}
