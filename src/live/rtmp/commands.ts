/** Reads commands, and builds their responses. Pure. "Adobe's Real Time Messaging Protocol" 1.0, §7.2 */
import { type AmfValue, decodeAmf0, encodeAmf0 } from './amf0.ts';
import { MESSAGE_TYPE, type RtmpMessage, RtmpMessageError } from './messages.ts';
import type { ConnectFacts } from './request.ts';

export interface Command {
  readonly name: string;
  /** Transaction id; 0 if the client wants no response. */
  readonly transaction: number;
  /** The command object, then the arguments. */
  readonly values: readonly AmfValue[];
  readonly streamId: number;
}

/** Throws `AmfError` or `RtmpMessageError`. */
export function readCommand({ type, payload, streamId }: RtmpMessage): Command {
  // The AMF3 form begins with a format byte; the values after it are AMF0.
  const [name, transaction, ...values] = decodeAmf0(type === MESSAGE_TYPE.commandAmf3 ? payload.subarray(1) : payload);
  if (typeof name !== 'string') throw new RtmpMessageError('a command without a name');
  return { name, transaction: typeof transaction === 'number' ? transaction : 0, values, streamId };
}

/** Returns the first argument if it is a text; otherwise an empty text. */
export function textArgument({ values }: Command): string {
  const [, value] = values;
  return typeof value === 'string' ? value : '';
}

function commandMessage(streamId: number, ...values: readonly AmfValue[]): RtmpMessage {
  return { type: MESSAGE_TYPE.command, timestamp: 0, streamId, payload: encodeAmf0(...values) };
}

/** `values`: the command object, then the results. */
export function resultOf({ transaction }: Command, ...values: readonly AmfValue[]): RtmpMessage {
  return commandMessage(0, '_result', transaction, ...values);
}

export function errorOf({ transaction }: Command, code: string, description: string): RtmpMessage {
  return commandMessage(0, '_error', transaction, null, { level: 'error', code, description });
}

export function onStatus(streamId: number, level: 'status' | 'error', code: string, description: string): RtmpMessage {
  return commandMessage(streamId, 'onStatus', 0, null, { level, code, description });
}

/** Messages that FMLE expects besides `onStatus`. */
export function onFc(command: 'onFCPublish' | 'onFCUnpublish' | 'onFCSubscribe', code: string): RtmpMessage {
  return commandMessage(0, command, 0, null, { level: 'status', code, description: code });
}

export function connectResult(command: Command, { objectEncoding, isEnhanced }: ConnectFacts): RtmpMessage {
  return resultOf(
    command,
    // The values of Flash Media Server 3.5, which old encoders check.
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

/** Bit "can forward" of Enhanced RTMP v2's FourCcInfoMask. */
const CAN_FORWARD = 4;
const VIDEO_CODECS = ['avc1', 'hvc1', 'av01', 'vp09'] as const;
const AUDIO_CODECS = ['mp4a', 'Opus', '.mp3'] as const;

/** Bit "ModEx" of Enhanced RTMP v2's CapsExMask: modifiers before a packet are understood and forwarded. */
const MODIFIERS = 4;

/** Capabilities: codecs that are forwarded. Reconnect requests, multitrack and nanosecond offsets are not supported. */
const ENHANCED = {
  fourCcList: [...VIDEO_CODECS, ...AUDIO_CODECS],
  videoFourCcInfoMap: Object.fromEntries(VIDEO_CODECS.map((codec) => [codec, CAN_FORWARD])),
  audioFourCcInfoMap: Object.fromEntries(AUDIO_CODECS.map((codec) => [codec, CAN_FORWARD])),
  capsEx: MODIFIERS,
};

/** Message that lets Flash players read the samples; they expect it before the first of these. */
export function sampleAccess(streamId: number): RtmpMessage {
  const payload = encodeAmf0('|RtmpSampleAccess', true, true);
  return { type: MESSAGE_TYPE.data, timestamp: 0, streamId, payload };
}
