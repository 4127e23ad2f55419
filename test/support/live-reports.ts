/** Reports of live processes, as tests send them. */
import type { BroadcastName, LiveEvent, LiveStatus } from '#model/live-stream.ts';

export function began(n: number, name: BroadcastName, at: number): LiveEvent {
  return { ...name, n, at, kind: 'began', source: 'publish', address: '192.0.2.1' };
}

export function ended(n: number, name: BroadcastName, at: number, reason: EndReason = 'unpublished'): LiveEvent {
  return { ...name, n, at, kind: 'ended', reason };
}

type EndReason = Extract<LiveEvent, { readonly kind: 'ended' }>['reason'];

export function onAir(name: BroadcastName, startedAt: number, more: Partial<LiveStatus> = {}): LiveStatus {
  return {
    ...name,
    startedAt,
    lastMediaAt: startedAt,
    source: 'publish',
    address: '192.0.2.1',
    isInGrace: false,
    videoCodec: 'avc1',
    audioCodec: 'mp4a',
    width: 1280,
    height: 720,
    frameRate: 30,
    keyFrameMs: 2000,
    bitsPerSecond: 2_100_000,
    repairedTimestamps: 0,
    viewers: { flv: 0, websocket: 0, rtmp: 0, hls: 0 },
    flashVer: 'FMLE/3.0',
    ...more,
  };
}
