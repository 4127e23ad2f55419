/**
 * Reads the header bytes of media messages: those of FLV tags (Adobe FLV specification 10.1, annex E.4) and of Enhanced
 * RTMP v1 and v2. `fmp4/` reads the frames and configurations after them.
 */
import type { MediaMessage } from './message.ts';

export interface MediaFacts {
  /**
   * The sample entry's name in MP4 (`avc1`, `hvc1`, `av01`, `vp09`, `mp4a`, `Opus`, `.mp3`), another FourCC, or
   * `flv-video-<id>` / `flv-audio-<id>` for the old codecs of FLV. Empty for data and for messages that are ignored
   * before their codec is known.
   */
  readonly codec: string;
  /** Whether it is a decoder's configuration, which every viewer needs before the first frame. */
  readonly isSequenceHeader: boolean;
  /** Whether it is a video frame at which decoding can begin; false for audio. */
  readonly isKeyFrame: boolean;
  /** Whether it is the stream's `onMetaData`, which every viewer gets first. */
  readonly isMetadata: boolean;
  /** Presentation time minus decode time, in milliseconds; 0 for audio. May be negative. */
  readonly compositionMs: number;
  /** Offset of the frame or the configuration in `data`. */
  readonly payloadOffset: number;
  /** Whether it is not sent to viewers: multitrack, end of a sequence, a command, empty or truncated. */
  readonly isIgnored: boolean;
}

const IGNORED: MediaFacts = {
  codec: '',
  isSequenceHeader: false,
  isKeyFrame: false,
  isMetadata: false,
  compositionMs: 0,
  payloadOffset: 0,
  isIgnored: true,
};

/** The script data string `onMetaData` in AMF0. */
const ON_METADATA = Buffer.from('\x02\x00\x0aonMetaData', 'latin1');

const KEY_FRAME = 1;
const COMMAND_FRAME = 5;
/**
 * Enhanced RTMP v2, "ExVideoTagHeader" and "ExAudioTagHeader". Metadata, MPEG-2 TS headers and multitrack are ignored.
 */
const SEQUENCE_START = 0;
const CODED_FRAMES = 1;
const CODED_FRAMES_WITHOUT_OFFSET = 3;
const MODIFIER = 7;
/** The extended codecs whose CodedFrames carry a composition time. */
const WITH_COMPOSITION: readonly string[] = ['avc1', 'hvc1', 'vvc1'];

export function describeMedia({ kind, data }: MediaMessage): MediaFacts {
  if (kind === 'data') return describeData(data);
  const first = data[0];
  if (first === undefined) return IGNORED;
  if (kind === 'video') return (first & 0x80) === 0 ? describeVideo(data, first) : describeExtendedVideo(data, first);
  return first >> 4 === 9 ? describeExtendedAudio(data, first) : describeAudio(data, first);
}

function describeData(data: Buffer): MediaFacts {
  if (data.length === 0) return IGNORED;
  const isMetadata = data.subarray(0, ON_METADATA.length).equals(ON_METADATA);
  return { ...IGNORED, isMetadata, isIgnored: false };
}

function describeVideo(data: Buffer, first: number): MediaFacts {
  const frameType = first >> 4;
  const id = first & 15;
  const isKey = frameType === KEY_FRAME;
  if (frameType === COMMAND_FRAME) return IGNORED;
  // 7 is AVC; 12 is HEVC in the form of many Chinese encoders, which is older than Enhanced RTMP.
  if (id !== 7 && id !== 12) return factsOf(data, `flv-video-${id}`, { payloadOffset: 1, isKeyFrame: isKey });
  const packetType = data[1];
  if (data.length < 5 || packetType === undefined || packetType > 1) return IGNORED;
  return factsOf(data, id === 7 ? 'avc1' : 'hvc1', {
    payloadOffset: 5,
    isSequenceHeader: packetType === 0,
    isKeyFrame: isKey && packetType === 1,
    compositionMs: packetType === 1 ? data.readIntBE(2, 3) : 0,
  });
}

function describeExtendedVideo(data: Buffer, first: number): MediaFacts {
  const frameType = (first >> 4) & 7;
  const { packetType, at } = skipModifiers(data, first & 15);
  if (frameType === COMMAND_FRAME || data.length < at + 4) return IGNORED;
  const codec = data.toString('latin1', at, at + 4);
  const hasOffset = packetType === CODED_FRAMES && WITH_COMPOSITION.includes(codec);
  if (hasOffset && data.length < at + 7) return IGNORED;
  const isFrame = packetType === CODED_FRAMES || packetType === CODED_FRAMES_WITHOUT_OFFSET;
  if (!isFrame && packetType !== SEQUENCE_START) return IGNORED;
  return factsOf(data, codec, {
    payloadOffset: at + (hasOffset ? 7 : 4),
    isSequenceHeader: !isFrame,
    isKeyFrame: isFrame && frameType === KEY_FRAME,
    compositionMs: hasOffset ? data.readIntBE(at + 4, 3) : 0,
  });
}

function describeAudio(data: Buffer, first: number): MediaFacts {
  const id = first >> 4;
  if (id === 2 || id === 14) return factsOf(data, '.mp3', { payloadOffset: 1 });
  if (id !== 10) return factsOf(data, `flv-audio-${id}`, { payloadOffset: 1 });
  const packetType = data[1];
  if (packetType === undefined || packetType > 1) return IGNORED;
  return factsOf(data, 'mp4a', { payloadOffset: 2, isSequenceHeader: packetType === 0 });
}

function describeExtendedAudio(data: Buffer, first: number): MediaFacts {
  const { packetType, at } = skipModifiers(data, first & 15);
  if (data.length < at + 4 || (packetType !== SEQUENCE_START && packetType !== CODED_FRAMES)) return IGNORED;
  const isSequenceHeader = packetType === SEQUENCE_START;
  return factsOf(data, data.toString('latin1', at, at + 4), { payloadOffset: at + 4, isSequenceHeader });
}

/** Skips the modifiers, such as a nanosecond offset, that precede the packet's type in Enhanced RTMP v2. */
function skipModifiers(data: Buffer, first: number): { readonly packetType: number; readonly at: number } {
  let packetType = first;
  let at = 1;
  while (packetType === MODIFIER) {
    let size = (data[at++] ?? 0) + 1;
    if (size === 256) {
      size = data.length < at + 2 ? 0 : data.readUInt16BE(at) + 1;
      at += 2;
    }
    at += size;
    const types = data[at++];
    if (types === undefined) return { packetType: -1, at: data.length };
    packetType = types & 15;
  }
  return { packetType, at };
}

type ReadFacts = Pick<MediaFacts, 'payloadOffset'> & Partial<MediaFacts>;

/** Completes the facts. An empty frame or configuration is ignored: MP4 has no samples without bytes. */
function factsOf(data: Buffer, codec: string, read: ReadFacts): MediaFacts {
  const isEmpty = data.length <= read.payloadOffset;
  return {
    codec,
    isSequenceHeader: !isEmpty && (read.isSequenceHeader ?? false),
    isKeyFrame: !isEmpty && (read.isKeyFrame ?? false),
    isMetadata: false,
    compositionMs: read.compositionMs ?? 0,
    payloadOffset: read.payloadOffset,
    isIgnored: isEmpty,
  };
}
