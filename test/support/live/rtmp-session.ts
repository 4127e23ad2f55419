/** An RTMP session without a socket: messages in, and in words what it answers. */
import { setImmediate as turn } from 'node:timers/promises';
import { type AmfValue, decodeAmf0, encodeAmf0 } from '#live/rtmp/amf0.ts';
import { ChunkReader, LIMITS_AFTER } from '#live/rtmp/chunk-reader.ts';
import { writeMessage } from '#live/rtmp/chunk-writer.ts';
import type { RtmpHooks } from '#live/rtmp/conversation.ts';
import type { ConnectionEnd } from '#live/rtmp/ends.ts';
import { HANDSHAKE_END_BYTES } from '#live/rtmp/handshake.ts';
import { DEFAULT_RTMP_LIMITS } from '#live/rtmp/limits.ts';
import { MESSAGE_TYPE, type RtmpMessage } from '#live/rtmp/messages.ts';
import { type RtmpRole, RtmpSession } from '#live/rtmp/session.ts';
import { createManualTimers, type ManualTimers } from '../timers.ts';
import { beginHandshake } from './rtmp-handshake.ts';

export interface ScriptedSession {
  readonly session: RtmpSession;
  readonly timers: ManualTimers;
  readonly roles: RtmpRole[];
  end: ConnectionEnd | undefined;
  /** Whether the session reads; as a socket it is not given bytes while it does not. */
  isPaused: boolean;
  /** `undefined`: the connection is open. */
  finish: 'finished' | 'reset' | undefined;
  receive(bytes: Buffer): void;
  say(message: Partial<RtmpMessage> & Pick<RtmpMessage, 'type'>): void;
  command(streamId: number, ...values: readonly AmfValue[]): void;
  /** What has been answered since this was last asked, when the owner has decided. */
  answers(): Promise<string[]>;
  messages(): RtmpMessage[];
}

const NOTHING = Buffer.alloc(0);

export function openSession(hooks: RtmpHooks, hasShaken = true): ScriptedSession {
  const timers = createManualTimers();
  const reader = new ChunkReader();
  reader.limits = LIMITS_AFTER;
  let written: Buffer[] = [];
  let handshakeBytes = 1 + 2 * HANDSHAKE_END_BYTES;
  const waiting: Buffer[] = [];
  const output = {
    sentBytes: 0,
    queuedBytes: 0,
    write: (bytes: Buffer) => {
      const skipped = Math.min(handshakeBytes, bytes.length);
      handshakeBytes -= skipped;
      written.push(bytes.subarray(skipped));
    },
    pause: () => {
      scripted.isPaused = true;
    },
    resume: () => {
      scripted.isPaused = false;
      queueMicrotask(flush);
    },
    finish: () => {
      scripted.finish ??= 'finished';
    },
    reset: () => {
      scripted.finish = 'reset';
    },
  };
  const session = new RtmpSession({
    client: { clientAddress: '192.0.2.1', isTls: false },
    hooks,
    limits: DEFAULT_RTMP_LIMITS,
    timers,
    output,
    randomBytes: (size) => Buffer.alloc(size, 7),
    onRole: (role) => void scripted.roles.push(role),
    onEnd: (end) => {
      scripted.end = end;
    },
  });
  const flush = (): void => {
    while (!scripted.isPaused && waiting.length > 0) session.receive(waiting.shift() ?? NOTHING);
  };
  const messages = (): RtmpMessage[] => {
    const list: RtmpMessage[] = [];
    for (const bytes of written) {
      reader.push(bytes);
      for (let message = reader.next(); message !== undefined; message = reader.next()) list.push(message);
    }
    written = [];
    return list;
  };
  const receive = (bytes: Buffer): void => {
    waiting.push(bytes);
    flush();
  };
  const say: ScriptedSession['say'] = (message) =>
    receive(writeMessage({ timestamp: 0, streamId: 0, payload: NOTHING, ...message }, 3, 128));
  const scripted: ScriptedSession = {
    session,
    timers,
    roles: [],
    end: undefined,
    isPaused: false,
    finish: undefined,
    receive,
    say,
    command: (streamId, ...values) => say({ type: MESSAGE_TYPE.command, streamId, payload: encodeAmf0(...values) }),
    answers: async () => {
      await turn();
      await turn();
      return messages().map(describeMessage);
    },
    messages,
  };
  if (hasShaken)
    session.receive(
      Buffer.concat([beginHandshake(Buffer.alloc(HANDSHAKE_END_BYTES), undefined), Buffer.alloc(HANDSHAKE_END_BYTES)]),
    );
  return scripted;
}

const NAMES = new Map<number, string>(Object.entries(MESSAGE_TYPE).map(([name, type]) => [type, name]));

/** `onStatus NetStream.Publish.Start`, `_result 4 1`, `acknowledgement 2500000`, … */
function describeMessage({ type, payload }: RtmpMessage): string {
  if (type === MESSAGE_TYPE.userControl) return `userControl ${payload.readUInt16BE(0)} ${payload.readUInt32BE(2)}`;
  if (type < MESSAGE_TYPE.audio) return `${NAMES.get(type)} ${payload.readUInt32BE(0)}`;
  if (type !== MESSAGE_TYPE.command) return NAMES.get(type) ?? `type ${type}`;
  const [name, transaction, , info] = decodeAmf0(payload);
  const said = typeof info === 'object' && info !== null && 'code' in info ? info.code : info;
  return [name, transaction === 0 ? undefined : transaction, said].filter((part) => part !== undefined).join(' ');
}

/** Answers to connect, without the chunk size, which our reader obeys and does not report. */
export const CONNECTED = [
  'windowAcknowledgementSize 2500000',
  'setPeerBandwidth 2500000',
  '_result 1 NetConnection.Connect.Success',
];
export const PUBLISHING = ['userControl 0 1', 'onStatus NetStream.Publish.Start'];
const TC_URL = 'rtmp://live.example.com/live';
/** What encoders and players say of themselves. */
export const FMLE = { app: 'live', type: 'nonprivate', flashVer: 'FMLE/3.0 (compatible; FMSc/1.0)', tcUrl: TC_URL };
export const FLASH = { app: 'live', flashVer: 'LNX 9,0,124,2', tcUrl: TC_URL, fpad: false, capabilities: 15 };

/** A command, or another message. */
export type Sent = readonly [streamId: number, ...values: AmfValue[]] | RtmpMessage;

export function send(client: ScriptedSession, sent: Sent): void {
  if ('type' in sent) client.say(sent);
  else client.command(...sent);
}

export function control(type: number, hex: string): RtmpMessage {
  return { type, timestamp: 0, streamId: 0, payload: Buffer.from(hex, 'hex') };
}

/** A session that publishes `a` to this owner, and has sent a first frame. */
export async function openPublishing(owner: RtmpHooks): Promise<ScriptedSession> {
  const client = openSession(owner);
  client.command(0, 'connect', 1, FMLE);
  client.command(1, 'publish', 3, null, 'a');
  await client.answers();
  client.say({ type: MESSAGE_TYPE.video, payload: Buffer.of(0x17, 0), streamId: 1 });
  return client;
}

/** A session that plays `a` of this owner, which somebody publishes. */
export async function openPlaying(owner: RtmpHooks): Promise<ScriptedSession> {
  const player = openSession(owner);
  player.command(0, 'connect', 1, FLASH);
  player.command(1, 'play', 2, null, 'a');
  await player.answers();
  return player;
}
