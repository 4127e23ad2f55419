/** Commands: what a client's message says, and the messages that answer. Pure. "Adobe's Real Time Messaging Protocol" 1.0, §7.2 */
import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { MESSAGE_TYPE, type RtmpMessage, RtmpMessageError } from './messages.ts';
import type { ConnectFacts } from './request.ts';

export interface Command {
  readonly name: string;
  /** 0: no answer is wanted. */
  readonly transaction: number;
  /** The command object, then what the command takes. */
  readonly values: readonly AmfValue[];
  readonly streamId: number;
}

/** Throws `AmfError` or `RtmpMessageError`. */
export function readCommand({ type, payload, streamId }: RtmpMessage): Command {
  // Flash's newer format begins with a byte that says it; the values behind it are AMF0.
  const [name, transaction, ...values] = decodeAmf0(type === MESSAGE_TYPE.commandAmf3 ? payload.subarray(1) : payload);
  if (typeof name !== 'string') throw new RtmpMessageError('a command without a name');
  return { name, transaction: typeof transaction === 'number' ? transaction : 0, values, streamId };
}

/** The text that stands behind the command object; empty: there is none. */
export function textArgument({ values }: Command): string {
  const [, value] = values;
  return typeof value === 'string' ? value : '';
}

function commandMessage(streamId: number, ...values: readonly AmfValue[]): RtmpMessage {
  return { type: MESSAGE_TYPE.command, timestamp: 0, streamId, payload: encodeAmf0(...values) };
}

/** `values`: the command object and what follows it. */
export function resultOf({ transaction }: Command, ...values: readonly AmfValue[]): RtmpMessage {
  return commandMessage(0, '_result', transaction, ...values);
}

export function errorOf({ transaction }: Command, code: string, description: string): RtmpMessage {
  return commandMessage(0, '_error', transaction, null, { level: 'error', code, description });
}

export function onStatus(streamId: number, level: 'status' | 'error', code: string, description: string): RtmpMessage {
  return commandMessage(streamId, 'onStatus', 0, null, { level, code, description });
}

/** FMLE waits for these beside `onStatus`. */
export function onFc(command: 'onFCPublish' | 'onFCUnpublish' | 'onFCSubscribe', code: string): RtmpMessage {
  return commandMessage(0, command, 0, null, { level: 'status', code, description: code });
}

export function connectResult(command: Command, { objectEncoding, isEnhanced }: ConnectFacts): RtmpMessage {
  return resultOf(
    command,
    // What Flash Media Server 3.5 says of itself; old encoders look at it.
    { fmsVer: 'FMS/3,5,7,7009', capabilities: 31, mode: 1 },
    {
      level: 'status',
      code: 'NetConnection.Connect.Success',
      description: 'Connection succeeded.',
      objectEncoding,
      ...(isEnhanced ? ENHANCED : {}),
    },
  );
}

/** "can forward", of Enhanced RTMP v2's FourCcInfoMask. */
const CAN_FORWARD = 4;
const VIDEO_CODECS = ['avc1', 'hvc1', 'av01', 'vp09'] as const;
const AUDIO_CODECS = ['mp4a', 'Opus', '.mp3'] as const;

/** "ModEx", of Enhanced RTMP v2's CapsExMask: modifiers before a packet are understood and passed on. */
const MODIFIERS = 4;

/** Names what is passed on to viewers. Reconnect requests, multitrack and nanosecond offsets are not supported. */
const ENHANCED = {
  fourCcList: [...VIDEO_CODECS, ...AUDIO_CODECS],
  videoFourCcInfoMap: Object.fromEntries(VIDEO_CODECS.map((codec) => [codec, CAN_FORWARD])),
  audioFourCcInfoMap: Object.fromEntries(AUDIO_CODECS.map((codec) => [codec, CAN_FORWARD])),
  capsEx: MODIFIERS,
};

/** Lets Flash read the samples; players of the time expect it before the first of them. */
export function sampleAccess(streamId: number): RtmpMessage {
  const payload = encodeAmf0('|RtmpSampleAccess', true, true);
  return { type: MESSAGE_TYPE.data, timestamp: 0, streamId, payload };
}
