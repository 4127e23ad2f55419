/**
 * The listener of control: the management interface, `/healthz` and `/readyz`. What is HTTP is decided here (paths, methods,
 * body, sizes); what a call does, in `dispatch.ts`.
 */
import { randomUUID } from 'node:crypto';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import type { Registry } from 'prom-client';
import { ServiceError } from '#contract/errors.ts';
import { chooseLocale, type Locale } from '#contract/locale.ts';
import { ROUTE_NAMES, ROUTES } from '#contract/routes.ts';
import type { Keyring } from '#db/keyring.ts';
import type { Db } from '#db/open.ts';
import { readHead } from '#db/resources.ts';
import { type AddressSet, createAddressSet, unmapAddress } from '#lib/cidr.ts';
import { clientAddress } from '#lib/client-address.ts';
import type { Clock } from '#lib/clock.ts';
import { isLoopback, type ListenAddress } from '#lib/listen-address.ts';
import type { Logger } from '#lib/logger.ts';
import { createDays } from '#logs/day.ts';
import { type LogFile, signedLogPath } from '#logs/download.ts';
import type { BlobStore } from '#logs/store/blob-store.ts';
import type { Review } from '#model/transition.ts';
import { type Answer, answerFailure, answerHealthy, findRoute, isSmsPath } from './answer.ts';
import { type Caller, createAuthenticate } from './authenticate.ts';
import { addBodyParser, MAX_BODY_BYTES, refusalOfBody, refusalOfContentType } from './body.ts';
import { answerBrokenRequest, answerConnect } from './broken-request.ts';
import { createDispatch, notReady, toServiceError } from './dispatch.ts';
import { drain } from './drain.ts';
import { addLogDownloads, LOG_ROUTE } from './log-downloads.ts';
import { type ApiMetrics, createApiMetrics } from './metrics.ts';
import { createRequestLog, type RequestLog } from './request-log.ts';
import { securityHeaders } from './security-headers.ts';
import { createSmsDesk, type SmsHooks } from './sms-desk.ts';
import { createTimeFormat } from './time-format.ts';

export interface ApiOptions {
  readonly db: Db;
  readonly listen: ListenAddress;
  /** PEM texts. */
  readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  /** Addresses and networks whose X-Forwarded-For is believed; none: the connection's address is the client's. */
  readonly trustedProxies: readonly string[];
  readonly limits: ApiLimits;
  /** For who asks for no language that we have. */
  readonly locale: Locale;
  /** IANA name. */
  readonly timeZone: string;
  readonly domainStatusAs: 'int' | 'string';
  readonly cnameSuffix: string;
  readonly logs: LogOptions;
  /** Absent: no SMS engine runs in this process. */
  readonly sms?: SmsHooks;
  /** How far the time of a request to send may be off, either way; absent: 300 s. */
  readonly smsTimeWindowSeconds?: number;
  /** Whether this service obtains certificates; absent: no. */
  readonly obtainsCertificates?: boolean;
  /** Who decides on new domains. */
  readonly review: Review;
  /** Works as an operator's token, from this machine only. */
  readonly localSecret: string;
  readonly clock: Clock;
  /** For rates: only goes forward. */
  readonly steadyClock: Clock;
  readonly log: Logger;
  readonly registry: Registry;
}

/** Of log files and their downloads. */
interface LogOptions {
  readonly ring: Keyring;
  readonly blobs: BlobStore;
  /** Base address of downloads; absent: that of this listener. */
  readonly baseUrl?: string | undefined;
  /** How long an address can be used. */
  readonly hours: number;
}

export interface ApiLimits {
  readonly tokenRatePerSecond: number;
  readonly tokenRateBurst: number;
  readonly failedTokensPerMinute: number;
  /** Per account; the day begins in `timeZone`. A whole domain counts as a directory. */
  readonly purgeUrlsPerDay: number;
  readonly purgeDirectoriesPerDay: number;
  readonly prefetchUrlsPerDay: number;
  /** Absent: 100,000. */
  readonly domainsPerAccount?: number;
  /** Requests to send that wait to be accepted; absent: 5,000. */
  readonly smsWaiting?: number;
  /** Absent: 10,000. The list of them is one answer. */
  readonly certificatesPerAccount?: number;
}

export interface Api extends AsyncDisposable {
  readonly port: number;
  /** Stops listening, finishes requests within 10 s, then cuts. */
  close(): Promise<void>;
}

/** Some seconds of what a database takes. */
const SMS_WAITING = 5_000;
const SMS_TIME_WINDOW_SECONDS = 300;
const DOMAINS_PER_ACCOUNT = 100_000;
export const CERTIFICATES_PER_ACCOUNT = 10_000;
const MAX_CONNECTIONS = 10_000;
const CLOSE_GRACE_MS = 10_000;
/** For a whole request, body included. */
const REQUEST_TIMEOUT_MS = 30_000;
/** Longer than the 60 s after which load balancers let go of an idle connection, so that it is they who close it. */
const KEEP_ALIVE_MS = 65_000;
/** Here too for the answers that no hook sees. */
const ALWAYS = { 'cache-control': 'no-store', 'x-content-type-options': 'nosniff' };
/** Below what probes usually wait. */
const READY_LIMIT_MS = 2000;
const HEALTH_PATHS = ['/healthz', '/readyz'];

export async function startApi(options: ApiOptions): Promise<Api> {
  const metrics = createApiMetrics(options.registry);
  const requestLog = createRequestLog(options.log, metrics, HEALTH_PATHS);
  const send = createSend(options, requestLog);
  const app = createApp(options, metrics, async (request, reply, answer) => {
    const sent = await send(request, reply, answer);
    requestLog.write(request, reply); // no hook runs for these
    return sent;
  });
  app.addHook('onResponse', (request, reply, next) => {
    requestLog.write(request, reply);
    next();
  });
  addBodyParser(app);
  const security = securityHeaders();
  app.addHook('onRequest', (request, reply, next) => {
    reply.headers(security);
    const refusal = refusalOfHead(request);
    if (refusal === undefined) next();
    else send(request, reply, refusal).catch(next);
  });
  // Hooks run before it and have answered already; it is here so that Fastify's own never speaks.
  app.setNotFoundHandler((request, reply) => send(request, reply, new ServiceError('pathUnknown')));
  app.setErrorHandler((error, request, reply) =>
    send(request, reply, refusalOfBody(error) ?? toServiceError(error, { requestId: request.id }, options.log)),
  );
  addOperations(app, options, send);
  addHealth(app, options, send);
  addLogDownloads(
    app,
    { ...options, ...options.logs },
    { refuse: send, note: createDownloadNote(options, requestLog) },
  );
  const { host, port } = options.listen;
  app.server.maxConnections = MAX_CONNECTIONS;
  // Expectations that we do not know are ignored (RFC 9110 §10.1.1); Node would answer without an envelope.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on(
    'connect',
    answerConnect(options.locale, ({ outcome }) => metrics.count(undefined, outcome, 0)),
  );
  await app.listen({ host, port });
  const close = () => closeWithin(app, CLOSE_GRACE_MS);
  return { port: portOf(app) ?? port, close, [Symbol.asyncDispose]: close };
}

type Send = (request: FastifyRequest, reply: FastifyReply, answer: Answer | ServiceError) => Promise<FastifyReply>;

function createApp({ tls, locale }: ApiOptions, metrics: ApiMetrics, sendRefusal: Send): FastifyInstance {
  const settings = {
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    logger: false,
    // Node would answer without an envelope; `refusalOfHead` refuses it.
    http: { requireHostHeader: false },
    return503OnClosing: false,
    genReqId: () => randomUUID(),
    // A path that cannot be decoded is a path that we do not have.
    frameworkErrors: (_error: unknown, request: FastifyRequest, reply: FastifyReply) =>
      sendRefusal(request, reply, new ServiceError('pathUnknown')),
    clientErrorHandler: answerBrokenRequest(locale, ({ outcome }) => metrics.count(undefined, outcome, 0)),
  };
  if (tls === undefined) return fastify(settings);
  // What differs is the type of its raw server, which nothing here looks at.
  const https = { ...settings.http, cert: tls.cert, key: tls.key };
  return fastify({ ...settings, https }) as unknown as FastifyInstance;
}

/** Sends an answer with the headers that every answer has, and notes it for the log. */
function createSend({ locale, trustedProxies }: ApiOptions, requestLog: Pick<RequestLog, 'note'>): Send {
  const trusted = createAddressSet(trustedProxies);
  return async (request, reply, outcome) => {
    const path = pathOf(request);
    const answer = outcome instanceof ServiceError ? answerFailure(outcome, path, localeOf(request, locale)) : outcome;
    requestLog.note(request, { path, address: addressOf(request, trusted), answer });
    const isDrained = await drain(request.raw);
    // Closing waits for connections, and one that is kept would hold it up.
    if (!isDrained || !request.server.server.listening) reply.header('connection', 'close');
    return await reply
      .code(answer.http)
      .headers({ ...answer.headers, ...ALWAYS, 'x-request-id': request.id })
      .type('application/json; charset=utf-8')
      .send(JSON.stringify(answer.body));
  };
}

function addOperations(app: FastifyInstance, options: ApiOptions, send: Send): void {
  const { db, clock, steadyClock, log, limits, localSecret } = options;
  const dispatch = createDispatch({
    db,
    authenticate: createAuthenticate({
      db,
      localSecret,
      failedTokensPerMinute: limits.failedTokensPerMinute,
      steadyClock,
    }),
    steadyClock,
    tokenRatePerSecond: limits.tokenRatePerSecond,
    tokenRateBurst: limits.tokenRateBurst,
    maxDomains: limits.domainsPerAccount ?? DOMAINS_PER_ACCOUNT,
    keyring: options.logs.ring,
    maxCertificates: limits.certificatesPerAccount ?? CERTIFICATES_PER_ACCOUNT,
    obtainsCertificates: options.obtainsCertificates ?? false,
    review: options.review,
    cacheLimits: {
      purgeUrls: limits.purgeUrlsPerDay,
      purgeDirectories: limits.purgeDirectoriesPerDay,
      prefetchUrls: limits.prefetchUrlsPerDay,
    },
    days: createDays(options.timeZone),
    logUrl: createLogUrl(app, options),
    sms: createSmsDesk({
      db,
      ring: options.logs.ring,
      hooks: options.sms,
      maxWaiting: limits.smsWaiting ?? SMS_WAITING,
      log,
    }),
    smsTimeWindowMs: (options.smsTimeWindowSeconds ?? SMS_TIME_WINDOW_SECONDS) * 1000,
    look: {
      domainStatusAs: options.domainStatusAs,
      cnameSuffix: options.cnameSuffix,
      formatTime: createTimeFormat(options.timeZone),
    },
    log,
  });
  const trusted = createAddressSet(options.trustedProxies);
  for (const name of ROUTE_NAMES) {
    app.post(ROUTES[name].path, async (request, reply) => {
      const { body, id: requestId } = request;
      const locale = localeOf(request, options.locale);
      const answer = await dispatch({
        name,
        body,
        caller: callerOf(request, trusted),
        locale,
        requestId,
        now: clock(),
      });
      return await send(request, reply, answer);
    });
  }
}

/** Signed, and good for some hours. */
function createLogUrl(app: FastifyInstance, { logs, listen, tls }: ApiOptions) {
  const { ring, baseUrl, hours } = logs;
  const scheme = tls === undefined ? 'http' : 'https';
  const host = listen.host.includes(':') ? `[${listen.host}]` : listen.host;
  return (file: LogFile, now: number) => {
    const base = baseUrl?.replace(/\/+$/, '') ?? `${scheme}://${host}:${portOf(app) ?? listen.port}`;
    return base + signedLogPath(ring, file, Math.floor(now / 1000) + hours * 3600);
  };
}

function createDownloadNote({ trustedProxies }: ApiOptions, requestLog: Pick<RequestLog, 'note'>) {
  const trusted = createAddressSet(trustedProxies);
  return (request: FastifyRequest) =>
    requestLog.note(request, { path: pathOf(request), address: addressOf(request, trusted), answer: answerHealthy() });
}

/** `/healthz`: the process answers. `/readyz`: the database does too, soon enough. */
function addHealth(app: FastifyInstance, { db, log }: ApiOptions, send: Send): void {
  app.get('/healthz', (request, reply) => send(request, reply, answerHealthy()));
  app.get('/readyz', async (request, reply) => {
    try {
      await within(READY_LIMIT_MS, readHead(db.query));
    } catch (error) {
      log.error({ err: error, requestId: request.id }, 'the database does not answer');
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
function refusalOfHead(request: FastifyRequest): ServiceError | undefined {
  const { httpVersion, rawHeaders } = request.raw;
  const hosts = countHosts(rawHeaders);
  if (hosts > 1 || (hosts === 0 && httpVersion === '1.1')) return new ServiceError('requestMalformed'); // RFC 9112 §3.2
  // The router decodes a path; ours are taken as they are written.
  const isExact = !request.is404 && [pathOf(request), LOG_ROUTE].includes(request.routeOptions.url ?? '');
  const path = pathOf(request);
  const mayLack = isSmsPath(path);
  if (isExact) return request.method === 'POST' ? refusalOfContentType(request, { mayLack }) : undefined;
  if (HEALTH_PATHS.includes(path) || path.startsWith(LOG_ROUTE.slice(0, -1)))
    return new ServiceError('methodNotAllowed', { allow: 'GET, HEAD' });
  return findRoute(path) === undefined
    ? new ServiceError('pathUnknown')
    : new ServiceError('methodNotAllowed', { allow: 'POST' });
}

/** Names and values in turn. */
function countHosts(rawHeaders: readonly string[]): number {
  let hosts = 0;
  for (let at = 0; at < rawHeaders.length; at += 2) if (rawHeaders[at]?.toLowerCase() === 'host') hosts += 1;
  return hosts;
}

function callerOf(request: FastifyRequest, trusted: AddressSet): Caller {
  const address = addressOf(request, trusted);
  const isDirect = request.headers['x-forwarded-for'] === undefined;
  return { address, isLocal: isDirect && isLoopback(address) };
}

function addressOf({ socket, headers }: FastifyRequest, trusted: AddressSet): string {
  const forwardedFor = headers['x-forwarded-for'];
  // Node joins repeated ones of this name; the type allows a list for every name that it does not know.
  return clientAddress(unmapAddress(socket.remoteAddress ?? ''), forwardedFor?.toString(), trusted);
}

function localeOf({ headers }: FastifyRequest, fallback: Locale): Locale {
  return chooseLocale(headers['accept-language'], fallback);
}

function pathOf({ url }: FastifyRequest): string {
  return url.split('?', 1)[0] ?? url;
}

/** What the system chose when port 0 was asked for. */
function portOf(app: FastifyInstance): number | undefined {
  const address = app.server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

async function closeWithin(app: FastifyInstance, graceMs: number): Promise<void> {
  const cut = setTimeout(() => app.server.closeAllConnections(), graceMs);
  try {
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}
