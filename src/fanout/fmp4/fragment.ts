/**
 * Writes a fragment of an MP4 file: `moof` with the samples' times and sizes, and `mdat` with their bytes (ISO/IEC
 * 14496-12 §8.8), in one buffer. This is the only copy of a stream's bytes on their way to HLS.
 */
import { AUDIO_TRACK, VIDEO_TRACK } from './init-segment.ts';

export interface Sample {
  /** Decode time in ticks of the track. */
  readonly decodeAt: number;
  /** Duration in ticks; never 0. */
  readonly duration: number;
  /** Presentation time minus decode time, in ticks; may be negative. */
  readonly composition: number;
  readonly isKey: boolean;
  readonly data: Buffer;
}

const MOOF_HEADER_BYTES = 8;
const MFHD_BYTES = 16;
/** Size of the headers of traf, tfhd, tfdt and trun as written here. */
const TRAF_BYTES = 8 + 16 + 20 + 20;
const VIDEO_ROW_BYTES = 16;
const AUDIO_ROW_BYTES = 8;
const MDAT_HEADER_BYTES = 8;

const DEFAULT_BASE_IS_MOOF = 0x020000;
/** Flags of trun: data offset, duration and size of each sample; for video also its flags and composition offset. */
const AUDIO_ROWS = 0x000301;
const VIDEO_ROWS = 0x000f01;
const SYNC_SAMPLE = 0x02000000;
const DEPENDENT_SAMPLE = 0x01010000;

/** `sequence` counts fragments from 1. A track without samples is left out; at least one must have some. */
export function writeFragment(sequence: number, video: readonly Sample[], audio: readonly Sample[]): Buffer {
  const moofBytes =
    MOOF_HEADER_BYTES + MFHD_BYTES + trafBytes(video, VIDEO_ROW_BYTES) + trafBytes(audio, AUDIO_ROW_BYTES);
  const videoBytes = bytesOf(video);
  const mdatBytes = MDAT_HEADER_BYTES + videoBytes + bytesOf(audio);
  const fragment = Buffer.allocUnsafeSlow(moofBytes + mdatBytes);
  let at = writeHeader(fragment, 0, moofBytes, 'moof');
  at = writeHeader(fragment, at, MFHD_BYTES, 'mfhd');
  fragment.writeUInt32BE(0, at);
  at = fragment.writeUInt32BE(sequence, at + 4);
  const dataAt = moofBytes + MDAT_HEADER_BYTES;
  if (video.length > 0) at = writeTraf(fragment, at, VIDEO_TRACK, video, dataAt);
  if (audio.length > 0) at = writeTraf(fragment, at, AUDIO_TRACK, audio, dataAt + videoBytes);
  at = writeHeader(fragment, at, mdatBytes, 'mdat');
  for (const { data } of video) at += data.copy(fragment, at);
  for (const { data } of audio) at += data.copy(fragment, at);
  return fragment;
}

function trafBytes(samples: readonly Sample[], rowBytes: number): number {
  return samples.length === 0 ? 0 : TRAF_BYTES + samples.length * rowBytes;
}

function bytesOf(samples: readonly Sample[]): number {
  let bytes = 0;
  for (const { data } of samples) bytes += data.length;
  return bytes;
}

/** Returns the offset after the header. */
function writeHeader(bytes: Buffer, at: number, size: number, type: string): number {
  bytes.writeUInt32BE(size, at);
  bytes.write(type, at + 4, 'latin1');
  return at + 8;
}

function writeTraf(bytes: Buffer, from: number, track: number, samples: readonly Sample[], dataAt: number): number {
  const isVideo = track === VIDEO_TRACK;
  const rowBytes = isVideo ? VIDEO_ROW_BYTES : AUDIO_ROW_BYTES;
  let at = writeHeader(bytes, from, trafBytes(samples, rowBytes), 'traf');
  at = writeHeader(bytes, at, 16, 'tfhd');
  bytes.writeUInt32BE(DEFAULT_BASE_IS_MOOF, at);
  at = bytes.writeUInt32BE(track, at + 4);
  at = writeHeader(bytes, at, 20, 'tfdt');
  bytes.writeUInt32BE(0x01000000, at);
  at = bytes.writeBigUInt64BE(BigInt(samples[0]?.decodeAt ?? 0), at + 4);
  at = writeHeader(bytes, at, 20 + samples.length * rowBytes, 'trun');
  // Version 1: composition offsets are signed.
  bytes.writeUInt32BE(0x01000000 + (isVideo ? VIDEO_ROWS : AUDIO_ROWS), at);
  bytes.writeUInt32BE(samples.length, at + 4);
  at = bytes.writeUInt32BE(dataAt, at + 8);
  for (const { duration, data, isKey, composition } of samples) {
    bytes.writeUInt32BE(duration, at);
    at = bytes.writeUInt32BE(data.length, at + 4);
    if (!isVideo) continue;
    bytes.writeUInt32BE(isKey ? SYNC_SAMPLE : DEPENDENT_SAMPLE, at);
    at = bytes.writeInt32BE(composition, at + 4);
  }
  return at;
}
