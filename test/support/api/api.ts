/** A real API on a real database for tests: its clock is set by the test, its requests are raw HTTP. */
import { join } from 'node:path';
import { Registry } from 'prom-client';
import type { ApiLimits } from '#api/calls/calls.ts';
import { type ApiOptions, startApi } from '#api/server.ts';
import { SESSION_COOKIE } from '#contract/people/session-fields.ts';
import type { RouteName } from '#contract/routes.ts';
import { ROUTES } from '#contract/routes.ts';
import { type Db, openDatabase } from '#db/open.ts';
import { type Keyring, loadOrMakeKeyring } from '#db/secrets/keyring.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { recordEdgeStatus } from '#db/tables/edges.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { createToken, type TokenLimits } from '#db/tables/tokens.ts';
import { createLogger } from '#lib/logger.ts';
import { hashToken, mintToken } from '#lib/token.ts';
import { localBlobStore } from '#logs/store/local.ts';
import { type AccountKind, SCOPES, type Scope } from '#model/account.ts';
import type { EdgeVitals, OriginTrouble } from '#model/edge.ts';
import type { NewDatabase } from '../db/databases.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { askScriptedEdge, EXPLAINS } from './scripted-edge.ts';

export interface Raw {
  readonly http: number;
  readonly headers: Headers;
  /** The parsed answer. */
  readonly body: Readonly<Record<string, unknown>>;
  readonly errorCode: string | undefined;
}

export interface TestApi {
  readonly url: string;
  readonly db: Db;
  readonly registry: Registry;
  /** Lines that the API logged. */
  readonly logLines: string[];
  /** What its secrets are sealed with. */
  readonly ring: Keyring;
  now: number;
  /** Milliseconds that rates have seen pass; `now` may be set back, this may not. */
  passedMs: number;
  /** What the service itself does when it stops; the test's end does it too. */
  close(): Promise<void>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Raw>;
  /** Calls an operation with a token, or as a page of the console with the cookie of a session, in English. */
  call(name: RouteName, credential: string, request: Record<string, unknown>): Promise<Raw>;
  /** A new account with a token. */
  join(kind: AccountKind, scopes: readonly Scope[]): Promise<{ accountId: number; accessToken: string }>;
  /** Exchanges a token for a session; returns its cookie. */
  signIn(accessToken: string): Promise<string>;
  /** Another token of an account, which need not be one that can be made by an operation. */
  issue(accountId: number, limits: TokenLimits): Promise<string>;
  /** An edge reports that it runs everything up to `revision` (absent: the newest). */
  acknowledge(
    edge: string,
    revision?: number,
    rejectedNames?: readonly string[],
    origins?: readonly OriginTrouble[],
    vitals?: EdgeVitals,
  ): Promise<void>;
}

export const LOCAL_SECRET = 'the-secret-of-this-machine-0123456789';
/** 2026-01-31 12:00:00 in Shanghai. */
export const START = Date.UTC(2026, 0, 31, 4, 0, 0);

const NO_ORIGIN = { origin: '', address: '', connectMs: 0, tls: '', status: 0, isCacheable: false, why: 'noOrigin' };

export interface TestApiOptions extends Partial<Omit<ApiOptions, 'limits'>> {
  readonly limits?: Partial<ApiLimits>;
}

export async function startTestApi(
  t: Cleanup,
  newDatabase: NewDatabase,
  options: TestApiOptions = {},
): Promise<TestApi> {
  const logLines: string[] = [];
  const log = createLogger({ level: 'info', name: 'test', destination: { write: (line) => void logLines.push(line) } });
  const db = await openDatabase({ ...(await newDatabase(t)), log });
  const registry = new Registry();
  const folder = temporaryFolder(t);
  const ring = loadOrMakeKeyring(join(folder, 'keyring'));
  const api = await startApi({
    db,
    asks: askScriptedEdge(EXPLAINS),
    checks: { resolvers: ['127.0.0.1:9'], checkOrigin: async () => NO_ORIGIN },
    listen: { host: '127.0.0.1', port: 0 },
    trustedProxies: [],
    locale: 'zh-CN',
    timeZone: 'Asia/Shanghai',
    statSeconds: 30,
    domainStatusAs: 'int',
    cnameSuffix: 'cdn.example',
    logs: {
      blobs: localBlobStore(join(folder, 'log-store')),
      ring,
      hours: 24,
    },
    review: 'auto',
    obtainsCertificates: true,
    localSecret: LOCAL_SECRET,
    clock: () => test.now,
    steadyClock: () => test.passedMs,
    log,
    registry,
    ...options,
    limits: {
      tokenRatePerSecond: 50,
      tokenRateBurst: 100_000,
      failedTokensPerMinute: 1000,
      purgeUrlsPerDay: 1000,
      purgeDirectoriesPerDay: 100,
      prefetchUrlsPerDay: 100,
      ...options.limits,
    },
  });
  t.after(async () => {
    await api.close();
    await db[Symbol.asyncDispose]();
  });
  const url = `${options.tls === undefined ? 'http' : 'https'}://127.0.0.1:${api.port}`;
  const close = () => api.close();
  const test: TestApi = {
    url,
    db,
    registry,
    logLines,
    ring,
    now: START,
    passedMs: 0,
    close,
    ...callsTo(url),
    ...actsOn(db, () => test.now),
  };
  return test;
}

/** A Host-header-free view of one request and its answer. */
export async function readAnswer(response: Response): Promise<Raw> {
  return {
    http: response.status,
    headers: response.headers,
    body: isStream(response) ? await readFirstEvent(response) : JSON.parse(await response.text()),
    errorCode: response.headers.get('x-error-code') ?? undefined,
  };
}

/** What a page of the console sends with a call besides its body. */
export function pageFields(cookie: string): Record<string, string> {
  return { cookie, 'sec-fetch-site': 'same-origin' };
}

/** The cookie that an answer sets, as a browser sends it back. */
export function cookieOf(headers: Headers): string {
  return headers.getSetCookie()[0]?.replace(/;.*/, '') ?? '';
}

/** Calls before sign-in are made without a token. */
function tokenOf(name: RouteName, accessToken: string) {
  return ROUTES[name].scope === 'none' ? {} : { access_token: accessToken };
}

function isStream({ headers }: Response): boolean {
  return headers.get('content-type')?.startsWith('text/event-stream') === true;
}

/** The first event of a stream, which is ended then, as the data of an answer. */
async function readFirstEvent({ body }: Response): Promise<Raw['body']> {
  let text = '';
  for await (const piece of (body ?? new ReadableStream<Uint8Array>()).pipeThrough(new TextDecoderStream())) {
    text += piece;
    if (text.includes('\n\n')) break;
  }
  return { status: 1, data: JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? 'null') };
}

function callsTo(url: string): Pick<TestApi, 'post' | 'call' | 'signIn'> {
  const post: TestApi['post'] = async (path, body, headers = {}) =>
    readAnswer(
      await fetch(url + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json; charset=utf-8', ...headers },
        body: typeof body === 'string' ? body : JSON.stringify(body),
      }),
    );
  return {
    post,
    call: (name, credential, request) =>
      credential.startsWith(SESSION_COOKIE)
        ? post(ROUTES[name].path, request, { 'accept-language': 'en', ...pageFields(credential) })
        : post(ROUTES[name].path, { ...tokenOf(name, credential), ...request }, { 'accept-language': 'en' }),
    signIn: async (accessToken) => {
      const { headers } = await post(ROUTES['session.begin'].path, { access_token: accessToken });
      return cookieOf(headers);
    },
  };
}

function actsOn(db: Db, now: () => number): Pick<TestApi, 'join' | 'issue' | 'acknowledge'> {
  const issue: TestApi['issue'] = async (accountId, { scopes = SCOPES, ...limits }) => {
    const accessToken = mintToken();
    const token = { accountId, scopes, ...limits, label: '', hash: hashToken(accessToken), now: now() };
    await createToken(db.query, token);
    return accessToken;
  };
  return {
    async join(kind, scopes) {
      const { id: accountId } = await createAccount(db.query, { name: `a ${kind}`, kind, now: now() });
      return { accountId, accessToken: await issue(accountId, { scopes }) };
    },
    issue,
    async acknowledge(edge, revision, rejectedNames = [], origins = [], vitals) {
      const head = await readConfigHead(db.query);
      const appliedRevision = revision ?? head.revision;
      const rejected = rejectedNames.map((key) => ({ kind: 'site', key, revision: appliedRevision, error: 'cannot' }));
      const status = { edge, at: head, appliedRevision, rejected, build: 'test', startedAt: now(), origins };
      await recordEdgeStatus(db.query, vitals === undefined ? status : { ...status, vitals }, now());
    },
  };
}
