/** The listener of control: its parts are joined here, and closed. */
import type { FastifyInstance } from 'fastify';
import type { Registry } from 'prom-client';
import { saveSessionsSeen } from '#db/tables/people/sessions.ts';
import { saveTokenUses } from '#db/tables/tokens.ts';
import { startUses } from './auth/uses.ts';
import type { CallAnswer } from './call-answer.ts';
import { type CallOptions, createAnswerCall } from './calls/calls.ts';
import { createRequesters, type RequesterOptions } from './calls/requester.ts';
import { type BareConnections, readBare } from './http/bare/bare-connections.ts';
import { createFormatAnswer } from './http/bare/write-answer.ts';
import { createParseBody } from './http/body.ts';
import { answerBrokenRequest, PLAIN_HTTP } from './http/broken-request.ts';
import { type ConsoleSite, createApp } from './http/fastify-app.ts';
import { HeldBytes } from './http/held-bytes.ts';
import { CLOSE_GRACE_MS, MAX_CONNECTIONS, MAX_HELD } from './http/limits.ts';
import { createApiMetrics } from './http/metrics.ts';
import { answerPlain } from './http/plain-on-tls.ts';
import { createReadLines } from './http/request-lines.ts';
import { createRequestLog } from './http/request-log.ts';
import { securityHeaders } from './http/security-headers.ts';
import { warnOfUntrustedProxies } from './http/untrusted-proxies.ts';
import { addPreviewMetrics } from './previews/metrics.ts';
import { Previews } from './previews/previews.ts';
import { addWatchMetrics } from './watch/metrics.ts';
import { Watches } from './watch/watches.ts';

export interface ApiOptions extends CallOptions, Omit<RequesterOptions, 'onUntrustedProxy'> {
  readonly registry: Registry;
  /** Absent: there is no console. */
  readonly console?: ConsoleSite | undefined;
  /** Time between writes of when tokens and sessions were last used; absent: a minute. */
  readonly tokenUsesEveryMs?: number;
}

export interface Api extends AsyncDisposable {
  readonly port: number;
  /** Stops listening, finishes requests within 10 s, then cuts. */
  close(): Promise<void>;
}

export async function startApi(options: ApiOptions): Promise<Api> {
  const { listen, locale, tls, log, clock, registry } = options;
  if (options.console !== undefined && options.console.files === undefined)
    log.warn('the console is not built: run "npm run build" and start the service again');
  const metrics = createApiMetrics(registry);
  const count = ({ outcome }: CallAnswer) => metrics.count(undefined, outcome, 0);
  await using stack = new AsyncDisposableStack();
  const { db, tokenUsesEveryMs: everyMs } = options;
  const uses = stack.use(startUses({ db, log, everyMs, save: saveTokenUses }));
  const sessionUses = stack.use(startUses({ db, log, everyMs, save: saveSessionsSeen }));
  const watches = stack.use(new Watches({ ...options, monotonic: () => performance.now() }));
  addWatchMetrics(registry, watches);
  const previews = stack.use(new Previews(options));
  addPreviewMetrics(registry, previews);
  const requesters = createRequesters({ ...options, onUntrustedProxy: warnOfUntrustedProxies(log) });
  const parts = {
    requesters,
    answerCall: createAnswerCall({ ...options, uses, sessionUses }, requesters, () => portOf(app) ?? listen.port),
    parseBody: createParseBody(),
    held: new HeldBytes(MAX_HELD),
    writeRequestLog: createRequestLog(log, metrics),
    answerBroken: answerBrokenRequest(locale, count),
  };
  const security = securityHeaders();
  const lines = createReadLines();
  const { app, untilAnswered } = createApp({ ...parts, options, count, security, lines, watches, previews });
  app.server.maxConnections = MAX_CONNECTIONS;
  const formatAnswer = createFormatAnswer(security, clock);
  // By TLS the handshakes and the ciphers cost more than what is saved.
  const bare =
    tls === undefined
      ? readBare(app.server, { ...parts, formatAnswer, log }, { openFilter: lines.openFilter, untilEnd: untilAnswered })
      : undefined;
  if (tls !== undefined) answerPlain(app.server, (socket) => parts.answerBroken({ code: PLAIN_HTTP }, socket));
  await app.listen({ host: listen.host, port: listen.port });
  const running = stack.move();
  const close = async () => {
    await closeWithin(app, bare, CLOSE_GRACE_MS);
    await running.disposeAsync();
  };
  return { port: portOf(app) ?? listen.port, close, [Symbol.asyncDispose]: close };
}

/** What the system chose when port 0 was asked for. */
function portOf(app: FastifyInstance): number | undefined {
  const address = app.server.address();
  return typeof address === 'object' ? address?.port : undefined;
}

async function closeWithin(app: FastifyInstance, bare: BareConnections | undefined, graceMs: number): Promise<void> {
  const cut = setTimeout(() => {
    bare?.cutAll();
    app.server.closeAllConnections();
  }, graceMs);
  try {
    bare?.close();
    await app.close();
  } finally {
    clearTimeout(cut);
  }
}
