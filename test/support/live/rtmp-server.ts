/** An RTMP server whose owner accepts what it is told to, keeps what is published, and writes it on to players. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { Registry } from 'prom-client';
import type { HubViewer } from '#fanout/encoding.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { createLogger } from '#lib/logger.ts';
import { systemTimers } from '#lib/timers.ts';
import type {
  PlayAnswer,
  PublishAnswer,
  PublishEnd,
  RtmpConnection,
  RtmpHooks,
  RtmpRequest,
} from '#live/rtmp/conversation.ts';
import { type RtmpServer, type RtmpServerOptions, startRtmpServer } from '#live/rtmp/server.ts';
import { eventually } from '../eventually.ts';
import type { Cleanup } from '../temporary.ts';
import { RtmpClient, type RtmpClientOptions, sampleMessages } from './rtmp-client.ts';

export interface Published {
  readonly request: RtmpRequest;
  readonly connection: RtmpConnection;
  readonly messages: MediaMessage[];
  end: PublishEnd | undefined;
}

export interface RecordingOwner extends RtmpHooks {
  readonly published: Published[];
  readonly played: RtmpRequest[];
  readonly viewers: Set<HubViewer>;
  /** Players that have left, in their order. */
  readonly left: RtmpRequest[];
}

/** Refuses the stream `refused`; an exception for `broken`. A player gets all messages that its stream has had, then what comes. */
export function createRecordingOwner(): RecordingOwner {
  const published: Published[] = [];
  const played: RtmpRequest[] = [];
  const viewers = new Set<HubViewer>();
  const left: RtmpRequest[] = [];
  const publish = async (request: RtmpRequest, connection: RtmpConnection): Promise<PublishAnswer> => {
    if (request.stream === 'broken') throw new Error('the owner is broken');
    if (request.stream === 'refused')
      return { kind: 'refused', code: 'NetStream.Publish.Denied', description: 'not allowed', reason: 'a test' };
    const one: Published = { request, connection, messages: [], end: undefined };
    published.push(one);
    const take = (message: MediaMessage) => {
      if (one.end !== undefined) throw new Error('a message after the end');
      one.messages.push(message);
      for (const viewer of viewers) viewer.write(viewer.encoding.encode(message));
    };
    const end = (how: PublishEnd) => {
      if (one.end !== undefined) throw new Error('a second end');
      one.end = how;
      for (const viewer of viewers) viewer.end();
    };
    return { kind: 'accepted', sink: { take, end } };
  };
  const play = async (request: RtmpRequest): Promise<PlayAnswer> => {
    played.push(request);
    const source = published.find((one) => one.request.stream === request.stream && one.end === undefined);
    if (source === undefined)
      return { kind: 'refused', code: 'NetStream.Play.StreamNotFound', description: 'no stream', reason: 'a test' };
    let attached: HubViewer | undefined;
    const start = (viewer: HubViewer) => {
      attached = viewer;
      viewers.add(viewer);
      for (const message of source.messages) viewer.write(viewer.encoding.encode(message));
    };
    const stop = () => {
      if (attached !== undefined) viewers.delete(attached);
    };
    return { kind: 'accepted', player: { start, stop, leave: () => left.push(request) } };
  };
  return { publish, play, published, played, viewers, left };
}

export interface TestRtmpServer extends RtmpServer {
  readonly owner: RecordingOwner;
  readonly registry: Registry;
}

/** Deadlines that no test on a crowded machine reaches; the deadlines have tests with timers of their own. */
const PATIENT = { handshakeMs: 60_000, commandMs: 60_000, firstMediaMs: 60_000, silenceMs: 60_000 };

export async function startTestRtmpServer(options: Partial<RtmpServerOptions> = {}): Promise<TestRtmpServer> {
  const owner = createRecordingOwner();
  const registry = new Registry();
  const server = await startRtmpServer({
    plain: { listen: { host: '127.0.0.1', port: 0 } },
    hooks: owner,
    trustedProxies: [],
    proxyProtocol: 'off',
    timers: systemTimers,
    log: createLogger({ name: 'test', level: 'silent' }),
    registry,
    ...options,
    limits: { ...PATIENT, ...options.limits },
  });
  return { ...server, owner, registry };
}

type ClientOptions = Partial<RtmpClientOptions>;

/** Has published some messages, which have arrived. */
export async function publishSample(
  server: TestRtmpServer,
  name: string,
  options: ClientOptions = {},
): Promise<RtmpClient> {
  const client = await RtmpClient.openStream({ port: server.port, app: 'live', ...options });
  assert.equal((await client.publish(name)).code, 'NetStream.Publish.Start');
  const sent = sampleMessages(10);
  for (const message of sent) client.send(message);
  await eventually('all messages', () => server.owner.published.at(-1)?.messages.length === sent.length);
  return client;
}

/** Connections that say only `first` and read what they are answered; each is there when the next begins. */
export async function openSilent(
  t: Cleanup,
  port: number,
  count: number,
  { from = '127.0.0.1', first = Buffer.of(3) }: { readonly from?: string; readonly first?: Buffer } = {},
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let index = 0; index < count; index++) {
    const socket = connect({ port, host: '127.0.0.1', localAddress: from }).on('error', () => {});
    t.after(() => socket.destroy());
    await once(socket, 'connect');
    socket.resume().write(first);
    sockets.push(socket);
  }
  return sockets;
}
