/** The broadcasts on air, as reported to control. */
import type { LiveReport } from '#feed/wire/live-report.ts';
import type { StreamName } from '#sites/live.ts';
import type { LiveStream } from './live-stream.ts';
import type { Owner } from './owner.ts';
import type { Players } from './players.ts';
import type { Viewers } from './viewers.ts';

type LiveStatus = NonNullable<LiveReport['streams']>[number];

export interface Watched {
  readonly owner: Pick<Owner, 'list' | 'toEpoch'>;
  readonly players: Pick<Players, 'count'>;
  readonly viewers: Pick<Viewers, 'of'>;
}

export function listStatuses(watched: Watched): readonly LiveStatus[] {
  return watched.owner.list().flatMap((stream) => statusOf(stream, watched) ?? []);
}

function statusOf({ name, broadcast, onAir, side }: LiveStream, watched: Watched): LiveStatus | undefined {
  if (broadcast === undefined || onAir === undefined) return undefined;
  return {
    ...name,
    broadcast: broadcast.id,
    startedAt: broadcast.startedAt,
    lastMediaAt: Math.round(watched.owner.toEpoch(onAir.lastMediaAt)),
    source: onAir.source,
    address: onAir.address,
    isInGrace: onAir.brokenAt !== undefined,
    ...broadcast.figures,
    viewers: { ...watched.viewers.of(name), rtmp: watched.players.count(name) },
    flashVer: (side?.flashVer ?? '').slice(0, MAX_FLASH_VER_CHARS),
  };
}

/** Adds the players that this process has of a stream of the predecessor. */
export function withPlayers(status: LiveStatus, players: Pick<Players, 'count'>): LiveStatus {
  const { viewers } = status;
  return { ...status, viewers: { ...viewers, rtmp: viewers.rtmp + players.count(status) } };
}

export function countViewers(name: StreamName, { players, viewers }: Pick<Watched, 'players' | 'viewers'>): number {
  const { flv, websocket, hls } = viewers.of(name);
  return flv + websocket + hls + players.count(name);
}

const MAX_FLASH_VER_CHARS = 200;
