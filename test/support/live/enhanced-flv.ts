/**
 * Wraps frames that ffmpeg encoded into an MP4 file as a publisher of Enhanced RTMP sends them: ffmpeg 5 itself cannot. After the
 * specification "Enhanced RTMP v2": ExVideoTagHeader, ExAudioTagHeader.
 */
import { describeMedia } from '#fanout/media/describe.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { findBox, type Mp4Track, readMp4 } from './mp4.ts';

const SEQUENCE_START = 0;
const CODED_FRAMES = 1;
const EXTENDED_VIDEO = 0x80;
const KEY_FRAME = 1;
const INTER_FRAME = 2;
const EXTENDED_AUDIO = 9;

/** FourCC → the box with the configuration. */
const CONFIGURATIONS: Readonly<Record<string, string>> = {
  avc1: 'avcC',
  hvc1: 'hvcC',
  av01: 'av1C',
  vp09: 'vpcC',
  Opus: 'dOps',
};
const WITH_COMPOSITION: readonly string[] = ['avc1', 'hvc1'];

/** The configurations of all tracks, then the frames in the order of their decoding times, from 0. */
export function enhancedMessages(mp4: Buffer): MediaMessage[] {
  const tracks = readMp4(mp4);
  const frames = tracks.flatMap((track) => track.samples.map((_, index) => frame(track, index)));
  return [...tracks.map((track) => header(track, mp4)), ...frames.sort((a, b) => a.timestampMs - b.timestampMs)];
}

function fourCcOf({ codec }: Mp4Track): string {
  const name = codec.split('.')[0] ?? '';
  return name === 'opus' ? 'Opus' : name === 'hev1' ? 'hvc1' : name;
}

function header(track: Mp4Track, mp4: Buffer): MediaMessage {
  const fourCc = fourCcOf(track);
  const config = findBox(mp4, CONFIGURATIONS[fourCc] ?? '');
  if (config === undefined) throw new Error(`no configuration for ${track.codec}`);
  const isVideo = track.kind === 'video';
  const first = isVideo ? EXTENDED_VIDEO | (KEY_FRAME << 4) | SEQUENCE_START : (EXTENDED_AUDIO << 4) | SEQUENCE_START;
  const bytes = fourCc === 'Opus' ? opusHead(config) : config;
  return { kind: track.kind, timestampMs: 0, data: Buffer.concat([Buffer.from([first]), Buffer.from(fourCc), bytes]) };
}

function frame(track: Mp4Track, index: number): MediaMessage {
  const sample = track.samples[index];
  if (sample?.data === undefined) throw new Error(`${track.codec}: no bytes of sample ${index}`);
  const fourCc = fourCcOf(track);
  const toMs = (ticks: number) => Math.floor((ticks * 1000) / track.timeScale);
  const timestampMs = toMs(sample.dts);
  const frameType = sample.is_sync ? KEY_FRAME : INTER_FRAME;
  const first = track.kind === 'video' ? EXTENDED_VIDEO | (frameType << 4) : EXTENDED_AUDIO << 4;
  const composition = Buffer.alloc(WITH_COMPOSITION.includes(fourCc) ? 3 : 0);
  if (composition.length > 0) composition.writeIntBE(toMs(sample.cts) - timestampMs, 0, 3);
  const head = Buffer.concat([Buffer.from([first | CODED_FRAMES]), Buffer.from(fourCc), composition]);
  return { kind: track.kind, timestampMs, data: Buffer.concat([head, sample.data]) };
}

/** RFC 7845 §5.1, from the content of `dOps`: the same fields, little endian, and a version that is 1. */
function opusHead(config: Buffer): Buffer {
  const head = Buffer.alloc(19);
  head.write('OpusHead', 0, 'latin1');
  head[8] = 1;
  head[9] = config[1] ?? 0;
  head.writeUInt16LE(config.readUInt16BE(2), 10);
  head.writeUInt32LE(config.readUInt32BE(4), 12);
  head.writeInt16LE(config.readInt16BE(8), 16);
  return head;
}

/** A clip again and again, each time behind the one before; the configurations come once. `clipMs`: frames from there on are left out. */
export function* repeated(messages: readonly MediaMessage[], clipMs: number): Generator<MediaMessage> {
  const clip = messages.filter(({ timestampMs }) => timestampMs < clipMs);
  yield* clip;
  const frames = clip.filter((message) => !describeMedia(message).isSequenceHeader);
  for (let startMs = clipMs; ; startMs += clipMs) {
    for (const { kind, timestampMs, data } of frames) yield { kind, timestampMs: timestampMs + startMs, data };
  }
}
