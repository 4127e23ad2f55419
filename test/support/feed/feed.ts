/** A feed from end to end for tests: a real database, a real unix socket, a real edge's file. */
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { type Db, openDatabase } from '#db/open.ts';
import { type Change, publish } from '#db/tables/resources.ts';
import { type FeedClient, type FeedClientOptions, startFeedClient } from '#feed/client/client.ts';
import { type ControlLink, openSocketLink } from '#feed/client/control-link.ts';
import { type EdgeStore, openEdgeStore } from '#feed/store/edge-store.ts';
import { type Clock, systemClock } from '#lib/clock.ts';
import { createLogger, type Logger } from '#lib/logger.ts';
import type { EdgeVitals } from '#model/edge.ts';
import { type PurgeScope, purgeKey } from '#sites/purge.ts';
import type { SiteSpec } from '#sites/spec.ts';
import type { DatabaseTarget } from '../db/databases.ts';

export const silentLog: Logger = createLogger({ level: 'silent', name: 'test' });

export function openTestDatabase(target: DatabaseTarget): Promise<Db> {
  return openDatabase({ ...target, log: silentLog });
}

export function siteSpec(id: number, name: string, origin = 'origin.example.com'): SiteSpec {
  return {
    id,
    name,
    type: 'static',
    state: 'open',
    origins: { protocol: 'http', primary: [{ host: origin }], backup: [], hostHeader: '', probePath: '' },
  };
}

export function putSite(id: number, name: string, origin?: string): Change {
  return { kind: 'site', key: name, op: 'put', body: siteSpec(id, name, origin) };
}

/** A purge as control publishes it. */
export function putPurge(siteId: number, purgeId: string, scope: PurgeScope, site = 'a.example.com'): Change {
  return { kind: 'purge', key: purgeKey(siteId, purgeId), op: 'put', body: { siteId, site, ...scope } };
}

/** A prefetch as control publishes it. */
export function putPrefetch(taskId: number, n: number, target: string, accountId = 1): Change {
  const body = { taskId, n, host: 'a.example.com', target, scheme: 'http', accountId, siteId: 1 };
  return { kind: 'prefetch', key: `${taskId}:${n}`, op: 'put', body };
}

export function publishNow(db: Db, ...changes: readonly Change[]): Promise<number> {
  return db.transaction((trx) => publish(trx, changes, systemClock()));
}

/** What an edge without troubles says of itself. */
export const READY: EdgeVitals = {
  state: 'ready',
  features: ['drain'],
  load: { cpu: 0.25, mbit: 12.5, requests: 40, underWay: 3, cacheDisk: 0.5 },
  health: [{ check: 'disk', ok: true }],
};

export interface TestEdge extends AsyncDisposable {
  readonly store: EdgeStore;
  readonly client: FeedClient;
  readonly file: string;
}

/** An edge with its file in `folder`; `control`: the path of a unix socket, or a link. It is at once confirming everything unless `confirm` says otherwise. */
export function startTestEdge(
  folder: string,
  control: ControlLink | string,
  options: {
    readonly edgeId?: string;
    readonly confirm?: FeedClientOptions['confirm'];
    /** Absent: everything is stored at once. */
    readonly prefetch?: FeedClientOptions['prefetch'];
    readonly onMoved?: () => void;
    readonly describeVitals?: FeedClientOptions['describeVitals'];
    readonly onClockOffset?: FeedClientOptions['onClockOffset'];
    readonly clock?: Clock;
    readonly log?: Logger;
  } = {},
): TestEdge {
  const { edgeId = 'local', confirm = async () => undefined, onMoved = () => undefined } = options;
  const { prefetch = async () => ({ kind: 'stored' }), clock = systemClock, log = silentLog } = options;
  const { describeVitals = () => READY, onClockOffset = () => undefined } = options;
  const file = join(folder, `${edgeId}.db`);
  const store = openEdgeStore(file, onMoved);
  const client = startFeedClient({
    link: typeof control === 'string' ? openSocketLink(control) : control,
    snapshotFile: join(folder, `${edgeId}.part`),
    edgeId,
    build: 'test',
    store,
    confirm,
    prefetch,
    listOriginTroubles: () => [],
    describeVitals,
    onClockOffset,
    clock,
    log,
  });
  return {
    store,
    client,
    file,
    async [Symbol.asyncDispose]() {
      await client[Symbol.asyncDispose]();
      store[Symbol.dispose]();
    },
  };
}

/** Bytes on a unix socket, as written; for what no well-behaved client sends. */
export async function sendRaw(socketPath: string, text: string): Promise<string> {
  const socket: Socket = connect(socketPath);
  const chunks: string[] = [];
  const { promise, resolve } = Promise.withResolvers<string>();
  socket.setEncoding('utf8');
  socket.on('data', (chunk) => chunks.push(String(chunk)));
  // What arrived counts, however the connection ended.
  socket.on('error', () => undefined);
  socket.on('close', () => resolve(chunks.join('')));
  socket.write(text);
  return await promise;
}
