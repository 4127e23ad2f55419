/** Decides on RTMP publishers and players: by the rules of their domain, then by the state of the stream. */
import type { Clock } from '#lib/clock.ts';
import type { LiveMarkSource, StreamName } from '#sites/live.ts';
import { maskAuthKeys } from '#sites/live-key.ts';
import type { HolderSide } from './live-stream.ts';
import type { Mirrors } from './mirrors.ts';
import type { Owner } from './owner.ts';
import type { MediaSource, Players } from './players.ts';
import type { Predecessor } from './predecessor.ts';
import type { Pulls } from './pull/pulls.ts';
import type { RareLines } from './rare-lines.ts';
import type {
  PlayAnswer,
  PublishAnswer,
  RtmpConnection,
  RtmpHooks,
  RtmpRequest,
  RtmpStatus,
} from './rtmp/conversation.ts';
import type { LoggedSession, Outcome, SessionLines } from './session-lines.ts';
import { denialOfPlay } from './streams/play-access.ts';
import { denialOfPublish } from './streams/publish-access.ts';
import type { CutReason } from './streams/stream-state.ts';

export interface RtmpHooksOptions {
  readonly owner: Owner;
  readonly players: Players;
  readonly pulls: Pick<Pulls, 'open'>;
  readonly mirrors: Mirrors;
  predecessor(): Predecessor | undefined;
  readonly marks: LiveMarkSource;
  readonly lines: SessionLines;
  readonly pushAuth: 'off' | 'required';
  readonly clock: Clock;
  readonly rareLines: RareLines;
}

export function createRtmpHooks(options: RtmpHooksOptions): RtmpHooks {
  const note = (session: LoggedSession, { kind, ...answer }: PublishAnswer | PlayAnswer) => {
    if (kind === 'refused' && 'reason' in answer) options.lines.refuse(session, outcomeOf(answer.reason));
  };
  return {
    publish: async (request, connection) => {
      const session = { ...sessionOf(options.owner, request, connection), method: 'PUBLISH' } as const;
      const answer = await answerPublish(options, session, connection);
      note(session, answer);
      return answer;
    },
    play: async (request, connection) => {
      const session = { ...sessionOf(options.owner, request, connection), method: 'PLAY' } as const;
      const answer = await answerPlay(options, session);
      note(session, answer);
      return answer;
    },
  };
}

function sessionOf(owner: Owner, request: RtmpRequest, connection: RtmpConnection): Omit<LoggedSession, 'method'> {
  return { domainId: owner.siteOf(request.host)?.id ?? 0, request, connection };
}

const PUBLISHED: Outcome = { cacheCode: 'NONE', status: 200 };
const PLAYED: Outcome = { cacheCode: 'TCP_HIT', status: 200 };

function outcomeOf(reason: string): Outcome {
  if (reason === BUSY) return { cacheCode: 'NONE', status: 409 };
  if (reason === NOT_ON_AIR) return { cacheCode: 'NONE', status: 404 };
  if (FULL.has(reason)) return { cacheCode: 'NONE', status: 503 };
  return { cacheCode: 'TCP_DENIED', status: 403 };
}

const BUSY = 'busy';
const NOT_ON_AIR = 'notOnAir';
const PUBLISHED_ALREADY: PublishAnswer = {
  kind: 'refused',
  code: 'NetStream.Publish.BadName',
  description: 'the stream is being published already',
  reason: BUSY,
};

/** Descriptions for authorized clients, whose owner can do something about the limit. */
const FULL_TEXTS = {
  streams: 'the domain has its share of the live streams that this machine takes at once',
  memory: 'the streams of the domain have filled their share of the memory (live-memory); try again in 10 seconds',
  rate: 'too many broadcasts of the domain began: at most 10 a second in the long run; try again later',
  players: 'the domain has its share of the RTMP players that this machine takes at once',
} as const;
const FULL: ReadonlyMap<string, string> = new Map(Object.entries(FULL_TEXTS));

async function answerPublish(
  { owner, marks, lines, pushAuth, clock, rareLines, predecessor }: RtmpHooksOptions,
  session: LoggedSession,
  connection: RtmpConnection,
): Promise<PublishAnswer> {
  const { request } = session;
  const denial = denialOfPublish({ ...asked(owner, marks, request, clock()), pushAuth });
  const name = nameOf(owner, request);
  if (denial !== undefined || name === undefined || request.host === undefined)
    return denied(rareLines, session, denial ?? 'domain');
  const earlier = predecessor();
  if (earlier?.has(name) === true && !(await earlier.releases(name))) return PUBLISHED_ALREADY;
  const side: HolderSide = {
    source: 'publish',
    address: request.clientAddress,
    flashVer: request.flashVer,
    get heldBytes() {
      return connection.partialBytes;
    },
    cut: (reason) => connection.close(statusOf(reason)),
  };
  const admission = owner.admit(name, request.host, side);
  if (admission.kind === 'refused') {
    if (admission.reason !== 'busy') return denied(rareLines, session, admission.reason);
    return PUBLISHED_ALREADY;
  }
  const { intake } = admission;
  const line = lines.open(session, PUBLISHED);
  line.goOn();
  return {
    kind: 'accepted',
    sink: {
      take: (message) => intake.take(message),
      end: ({ kind }) => {
        line.pause();
        intake.end(kind === 'unpublished');
      },
    },
  };
}

async function answerPlay(options: RtmpHooksOptions, session: LoggedSession): Promise<PlayAnswer> {
  const { owner, players, marks, lines, clock, rareLines } = options;
  const { request } = session;
  const denial = denialOfPlay(asked(owner, marks, request, clock()));
  if (denial !== undefined)
    return {
      kind: 'refused',
      code: 'NetStream.Play.Failed',
      description: EXPIRED.get(denial) ?? 'playing is refused',
      reason: denial,
    };
  const name = nameOf(owner, request);
  const hub = name && (await findMedia(options, name, request));
  if (name === undefined || hub === undefined)
    return {
      kind: 'refused',
      code: 'NetStream.Play.StreamNotFound',
      description: 'the stream is not on air',
      reason: NOT_ON_AIR,
    };
  if (!players.hasRoom(name.domainId)) {
    rareLines.warn(name.domainId, { ...name }, 'RTMP player refused: its domain has reached its limit of players');
    return { kind: 'refused', code: 'NetStream.Play.Failed', description: FULL_TEXTS.players, reason: 'players' };
  }
  // The key is checked only at the start: its expiry does not end playback.
  const mayGoOn = () =>
    denialOfPlay({ ...asked(owner, marks, request, clock()), authKey: undefined, keys: undefined }) === undefined;
  const player = players.create({ name, hub, mayGoOn });
  const line = lines.open(session, PLAYED);
  return {
    kind: 'accepted',
    player: {
      start: (viewer) => {
        line.goOn();
        player.start(viewer);
      },
      stop: () => {
        player.stop();
        line.pause();
      },
      leave: () => player.leave(),
    },
  };
}

/** Finds the stream here, at the predecessor, or at an origin. */
async function findMedia(
  { owner, pulls, mirrors, predecessor }: RtmpHooksOptions,
  name: StreamName,
  { isTls, host = '' }: RtmpRequest,
): Promise<MediaSource | undefined> {
  const present = owner.find(name)?.broadcast;
  if (present !== undefined) return present.hub;
  if (predecessor()?.has(name) === true) {
    const mirror = await mirrors.open(name);
    if (mirror !== undefined) return mirror;
  }
  await pulls.open(name, isTls ? 'https' : 'http', host);
  return owner.find(name)?.broadcast?.hub;
}

function asked(owner: Owner, marks: LiveMarkSource, request: RtmpRequest, now: number) {
  const { app, stream, clientAddress, query } = request;
  const site = owner.siteOf(request.host);
  const keys = site && marks.getLiveKeys(site.id);
  const mark = site && marks.getLiveMark(site.id, app, stream);
  return { site, app, stream, clientAddress, authKey: query.get('auth_key') ?? undefined, keys, mark, now };
}

function nameOf(owner: Owner, { host, app, stream }: RtmpRequest): StreamName | undefined {
  const site = owner.siteOf(host);
  return site && { domainId: site.id, app, stream };
}

/** Description of an expired key. It may be revealed: it tells nothing about the secret. */
const EXPIRED = new Map([['key expired', 'the address has expired']]);

/**
 * Refuses a publisher and logs the reason. Strangers are told only that publishing is refused; an authorized publisher
 * is told which limit was reached, or that its address has expired.
 */
function denied(lines: RareLines, { domainId, request }: LoggedSession, reason: string): PublishAnswer {
  const { host, app, stream, clientAddress } = request;
  const fields = { host, app: maskAuthKeys(app), stream: maskAuthKeys(stream), clientAddress, reason };
  lines.warn(domainId === 0 ? undefined : domainId, fields, 'publishing refused');
  const description = FULL.get(reason) ?? EXPIRED.get(reason) ?? 'publishing is refused';
  return { kind: 'refused', code: 'NetStream.Publish.Denied', description, reason };
}

function statusOf(reason: CutReason): RtmpStatus | undefined {
  switch (reason) {
    case 'forbidden':
    case 'closed':
      return { code: 'NetStream.Publish.Denied', description: 'publishing is refused' };
    case 'kicked':
      return { code: 'NetStream.Unpublish.Success', description: 'the publisher was disconnected' };
    case 'replaced':
      return { code: 'NetStream.Publish.BadName', description: 'the stream is being published elsewhere' };
    case 'overfull':
      return { code: 'NetStream.Publish.Denied', description: FULL_TEXTS.memory };
    case 'silent':
    case 'noMedia':
    case 'unwatched':
    case 'stopping':
      return undefined;
  }
}
