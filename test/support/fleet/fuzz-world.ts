/** A control for malformed requests: its fleet listener, and the same handler without TLS, which takes a fifth of the time. */
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { addDomain } from '#api/settings/change.ts';
import { ALONE } from '#db/peers/peers.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { readConfigHead } from '#db/tables/resources.ts';
import { startFeedServer } from '#feed/server/server.ts';
import {
  LIVE_PATH,
  LOGS_PATH,
  PREFETCH_PATH,
  RECORDINGS_PATH,
  SEAL_HEADER,
  SNAPSHOT_PATH,
  STATISTICS_PATH,
  STATUS_PATH,
  STREAM_PATH,
  VIEW_KEYS_PATH,
} from '#feed/wire/protocol.ts';
import { FEED_HEADER } from '#feed/wire/versions.ts';
import type { Identity } from '#fleet/identity.ts';
import { ANNOUNCE_PATH, ENROL_PATH, RENEW_PATH } from '#fleet/messages.ts';
import { createRequestHandler } from '#fleet/requests.ts';
import { createLogger } from '#lib/logger.ts';
import { makeCsr } from '#model/csr.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import { openControlTraffic } from '#roles/control/control-traffic.ts';
import type { DatabaseTarget } from '../db/databases.ts';
import { READY } from '../feed/feed.ts';
import { type Cleanup, temporaryFolder } from '../temporary.ts';
import { createFleet, type TestFleet } from './fleet.ts';
import type { Message, Mutated } from './mutations.ts';

export interface FuzzWorld {
  readonly fleet: TestFleet;
  readonly identity: Identity;
  readonly messages: readonly Message[];
  /** Errors that requests have ended with, as the log has them: each is a bug. */
  readonly failures: readonly string[];
  /** Sends to the handler without TLS. */
  send(mutated: Mutated): Promise<number>;
}

/** Header fields of every request. */
export function fieldsOf(identity: Identity): Readonly<Record<string, string>> {
  return { ...identity.fields, [FEED_HEADER]: '2', [SEAL_HEADER]: Buffer.alloc(32, 9).toString('base64') };
}

export async function startFuzzWorld(t: Cleanup, target: DatabaseTarget): Promise<FuzzWorld> {
  const failures: string[] = [];
  const write = (line: string) => void (line.includes('request failed') && failures.push(line));
  const log = createLogger({ level: 'error', name: 'test', destination: { write } });
  // Steps of an hour: neither wrong tokens nor malformed messages of an edge become too many.
  let steady = 0;
  const steadyClock = () => (steady += 3_600_000);
  let handleFeed: Awaited<ReturnType<typeof startFeedServer>>['handle'] | undefined;
  const fleet = await createFleet(t, target, {
    ...{ steadyClock, log },
    onRequest: (...call) => handleFeed?.(...call),
  });
  const { db, ring } = fleet;
  const folder = temporaryFolder(t);
  const logStore = { kind: 'local', directory: join(folder, 'logs') } as const;
  const logs = { logStore, logDays: 30, timeZone: 'UTC', statSeconds: 30 };
  const traffic = openControlTraffic(logs, db, ALONE, log);
  const snapshots = { directory: join(folder, 'snapshots'), bytesPerSecond: 1e9 };
  const socketPath = join(folder, 'feed.sock');
  const feed = await startFeedServer({ db, ring, traffic: traffic.taker, snapshots, socketPath, clock: db.clock, log });
  handleFeed = feed.handle;
  const { identity } = await fleet.enrol('fra1');
  const peer = { kind: 'edge', edge: 'fra1', serial: identity.serial, group: 'default' } as const;
  const facts = {
    client: '192.0.2.1',
    admission: { kind: 'peer', peer, isNew: false, machine: identity.machine },
  } as const;
  const counts = { clones: 0, badMessages: new Map<string, number>() };
  const handle = createRequestHandler({
    ...{ db, ring, controls: [], counts, clock: () => fleet.now, steadyClock, log },
    ...{ factsOf: () => facts, cutEdge: () => undefined, onRequest: feed.handle },
  });
  const server = createServer((received, response) => void handle(received, response)); // it never rejects
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const agent = new Agent({ keepAlive: true });
  t.after(async () => {
    agent.destroy();
    server.closeAllConnections();
    server.close();
    await feed[Symbol.asyncDispose]();
    await traffic[Symbol.asyncDispose]();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const { id: accountId } = await createAccount(db.query, { name: 'test', kind: 'customer', now: 1 });
  const settings = { ...DEFAULT_SETTINGS, origins: ['origin.example.net'] };
  const named = { accountId, name: 'www.example.com', type: 'static', state: 'open', icpNumber: '' } as const;
  const domain = await addDomain(db, { ...named, remark: '', createdAt: 1, settings }, 100, db.clock());
  const token = await fleet.createToken({ uses: 1000, expiresAt: fleet.now + 86_400_000 });
  const at = await readConfigHead(db.query);
  return {
    ...{ fleet, identity, failures },
    messages: messagesOf({ identity, token, at, domainId: domain.id }),
    async send({ method, path, body }) {
      const headers = { ...fieldsOf(identity), 'content-length': body.length };
      const outgoing = request({ host: '127.0.0.1', port, agent, method, path, headers });
      outgoing.on('error', () => {}); // after the answer it does not matter; before, `once` rejects
      outgoing.end(body);
      // `as`: what the event `response` of a client request carries.
      const [response] = (await once(outgoing, 'response')) as [IncomingMessage];
      if (response.headers['content-type'] === 'text/event-stream')
        response.destroy(); // it does not end
      else for await (const _ of response);
      return response.statusCode ?? 0;
    },
  };
}

const AT = Date.parse('2026-11-29T10:00:00Z');

/** One good message for each path. */
function messagesOf(of: {
  readonly identity: Identity;
  readonly token: string;
  readonly at: { readonly epoch: string; readonly revision: number; readonly tag: string };
  readonly domainId: number;
}): readonly Message[] {
  const { identity, token, domainId } = of;
  const at = { epoch: of.at.epoch, revision: of.at.revision, tag: of.at.tag };
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const csr = makeCsr('', key).toString('base64');
  const seal = Buffer.alloc(32, 1).toString('base64');
  const { machine, serial, edge } = identity;
  const position = { epoch: at.epoch, revision: String(at.revision), tag: at.tag, view: 'default.1' };
  const stream = { domainId, app: 'live', stream: 'news', broadcast: 'b1' };
  const rejected = [{ kind: 'site', key: 'www.example.com', revision: at.revision, error: 'no' }];
  const status = { edge, at, appliedRevision: at.revision, rejected, build: 'b', startedAt: AT, ...READY };
  const hitters = [{ value: '/a', requests: 1, bytes: 1 }];
  const viewers = { flv: 1, websocket: 0, rtmp: 0, hls: 3 };
  const media = { videoCodec: 'avc1', audioCodec: '', width: 1280, height: 720, frameRate: 29.97, keyFrameMs: 2000 };
  const onAir = {
    ...{ ...stream, startedAt: AT, lastMediaAt: AT, source: 'publish', address: '192.0.2.1', isInGrace: false },
    ...{ ...media, bitsPerSecond: 1, repairedTimestamps: 0, viewers, flashVer: 'x' },
  };
  const began = { ...stream, n: 1, at: AT, kind: 'began', source: 'publish', address: '192.0.2.1' };
  const ended = { ...stream, n: 2, at: AT, kind: 'ended', reason: 'lost' };
  const minute = [domainId, Math.floor(AT / 60_000), ...Array(10).fill(1)];
  const part = `${domainId}/2026-11-29/18.${edge}.worker-1-20261129T100000000Z-0000.log.gz`;
  const piece = { beganAt: AT, n: 0, endsAt: AT + 1000, durationMs: 1000, isDiscontinuity: false, initBytes: 4 };
  const post = (path: string, json: Message['json'], tail?: Buffer): Message => {
    return { method: 'POST', path, ...(json !== undefined && { json }), ...(tail !== undefined && { tail }) };
  };
  return [
    post(ENROL_PATH, { token, csr, seal, machine, build: 'test', edge: 'fuzz', feed: '2-2' }),
    post(RENEW_PATH, { csr, serial, machine }),
    post(ANNOUNCE_PATH, { seal, machine }),
    { method: 'GET', path: STREAM_PATH, query: position },
    { method: 'GET', path: SNAPSHOT_PATH, query: position },
    post(VIEW_KEYS_PATH, { ids: ['default.1', 'default.2'] }),
    post(STATUS_PATH, { ...status, clockOffsetMs: 3, origins: [{ key: 'a:80', state: 'down' }] }),
    post(PREFETCH_PATH, { edge, at, results: [{ taskId: 1, n: 0, failure: 'connect' }] }),
    post(LIVE_PATH, { edge, epoch: 'e1', at: AT, events: [began, ended], streams: [onAir] }),
    post(STATISTICS_PATH, { edge, start: 'a', sequence: 1, minutes: [minute] }),
    post(
      LOGS_PATH,
      { key: part, lines: 1, firstAt: AT, top: { url: hitters, referer: [], client: hitters } },
      gzipSync('a line\n'),
    ),
    post(RECORDINGS_PATH, { ...stream, ...piece, edge, recording: 'r1' }, Buffer.from('initmedia')),
  ];
}
