/**
 * H.264: the decoder configuration record (ISO/IEC 14496-15 §5.3.3.1) and its sequence parameter set (ITU-T H.264
 * §7.3.2.1).
 */
import { BitReader, unescapeNal } from './bit-reader.ts';
import type { VideoFormat } from './track-formats.ts';

/** Profiles whose parameter set includes the chroma format and scaling lists. */
const HIGH_PROFILES: readonly number[] = [100, 110, 122, 244, 44, 83, 86, 118, 128, 138, 139, 134, 135];
const EXTENDED_SAMPLE_ASPECT = 255;

/** Returns `undefined` unless it is a configuration of version 1 with a readable parameter set. */
export function readAvcFormat(config: Buffer): VideoFormat | undefined {
  if (config.length < 8 || config[0] !== 1 || ((config[5] ?? 0) & 31) === 0) return undefined;
  const spsLength = config.readUInt16BE(6);
  if (spsLength < 4 || config.length < 8 + spsLength) return undefined;
  const reader = new BitReader(unescapeNal(config.subarray(9, 8 + spsLength)));
  const size = readSize(reader);
  if (reader.isPastEnd) return undefined;
  const frameRate = readFrameRate(reader);
  return {
    kind: 'video',
    // RFC 6381 §3.3: profile_idc, the constraint flags and level_idc in hexadecimal.
    codec: `avc1.${config.toString('hex', 1, 4).toUpperCase()}`,
    sampleEntry: 'avc1',
    configBox: 'avcC',
    config,
    ...size,
    frameRate: reader.isPastEnd ? undefined : frameRate,
  };
}

function readSize(reader: BitReader): { readonly width: number; readonly height: number } {
  const profile = reader.read(8);
  reader.skip(16);
  reader.readUnsigned();
  const chroma = HIGH_PROFILES.includes(profile) ? readHighProfile(reader) : 1;
  reader.readUnsigned();
  skipPictureOrder(reader);
  reader.readUnsigned();
  reader.skip(1);
  const widthInBlocks = reader.readUnsigned() + 1;
  const heightInUnits = reader.readUnsigned() + 1;
  const isFrameOnly = reader.flag();
  if (!isFrameOnly) reader.skip(1);
  reader.skip(1);
  const fields = isFrameOnly ? 1 : 2;
  const isCropped = reader.flag();
  const [left, right, top, bottom] = isCropped ? readFour(reader) : [0, 0, 0, 0];
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1;
  const cropY = (chroma === 1 ? 2 : 1) * fields;
  return {
    width: widthInBlocks * 16 - (left + right) * cropX,
    height: heightInUnits * 16 * fields - (top + bottom) * cropY,
  };
}

function readFour(reader: BitReader): [number, number, number, number] {
  return [reader.readUnsigned(), reader.readUnsigned(), reader.readUnsigned(), reader.readUnsigned()];
}

/** Returns the chroma format; 0 for monochrome and for separate planes. */
function readHighProfile(reader: BitReader): number {
  const chroma = reader.readUnsigned();
  const isSeparate = chroma === 3 && reader.flag();
  reader.readUnsigned();
  reader.readUnsigned();
  reader.skip(1);
  if (reader.flag()) {
    const lists = chroma === 3 ? 12 : 8;
    for (let list = 0; list < lists; list++) if (reader.flag()) skipScalingList(reader, list < 6 ? 16 : 64);
  }
  return isSeparate ? 0 : chroma;
}

/** ITU-T H.264 §7.3.2.1.1.1. */
function skipScalingList(reader: BitReader, size: number): void {
  let last = 8;
  let next = 8;
  for (let at = 0; at < size && !reader.isPastEnd; at++) {
    if (next !== 0) next = (last + reader.readSigned() + 256) % 256;
    last = next === 0 ? last : next;
  }
}

function skipPictureOrder(reader: BitReader): void {
  const type = reader.readUnsigned();
  if (type === 0) reader.readUnsigned();
  if (type !== 1) return;
  reader.skip(1);
  reader.readSigned();
  reader.readSigned();
  const frames = reader.readUnsigned();
  for (let at = 0; at < frames && !reader.isPastEnd; at++) reader.readSigned();
}

/** Reads the frame rate from the video usability information (annex E.1.1), which follows the size. */
function readFrameRate(reader: BitReader): number | undefined {
  if (!reader.flag()) return undefined;
  if (reader.flag() && reader.read(8) === EXTENDED_SAMPLE_ASPECT) reader.skip(32);
  if (reader.flag()) reader.skip(1);
  if (reader.flag()) {
    reader.skip(4);
    if (reader.flag()) reader.skip(24);
  }
  if (reader.flag()) {
    reader.readUnsigned();
    reader.readUnsigned();
  }
  if (!reader.flag()) return undefined;
  const unitsPerTick = reader.read(32);
  const ticksPerSecond = reader.read(32);
  // A tick is a field: a frame has two.
  return unitsPerTick === 0 || ticksPerSecond === 0 ? undefined : ticksPerSecond / (2 * unitsPerTick);
}
