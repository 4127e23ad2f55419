/** Reports of live processes, as tests send them. */
import assert from 'node:assert/strict';
import { request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { Db } from '#db/open.ts';
import { createAccount } from '#db/tables/accounts.ts';
import { insertDomain } from '#db/tables/domains.ts';
import { type LiveReport, type LiveReportAnswer, parseLiveAnswer } from '#feed/wire/live-report.ts';
import { LIVE_PATH } from '#feed/wire/protocol.ts';
import { DEFAULT_SETTINGS } from '#model/domain.ts';
import type { BroadcastName, LiveEvent, LiveStatus } from '#model/live-stream.ts';

/** `live.example.com`, of an account of its own. */
export async function addLiveDomain({ query }: Db): Promise<{ readonly accountId: number; readonly domainId: number }> {
  const { id: accountId } = await createAccount(query, { name: 'a', kind: 'customer', now: 1 });
  const domain = await insertDomain(query, {
    accountId,
    name: 'live.example.com',
    type: 'live',
    icpNumber: '',
    remark: '',
    state: 'open',
    createdAt: 1,
    settings: DEFAULT_SETTINGS,
  });
  return { accountId, domainId: domain.id };
}

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

/** Sends a report to control, as a live process does. */
export async function sendLiveReport(socketPath: string, report: LiveReport): Promise<LiveReportAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const sent = request({ socketPath, path: LIVE_PATH, method: 'POST', agent: false }, (response) => {
    assert.equal(response.statusCode, 200);
    text(response).then(resolve, reject);
  });
  sent.on('error', reject);
  sent.end(JSON.stringify(report));
  return parseLiveAnswer(await promise);
}
