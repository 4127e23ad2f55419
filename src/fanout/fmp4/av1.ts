/**
 * AV1: the configuration record (AV1 in ISOBMFF §2.3) and the sequence header OBU (AV1 bitstream specification §5.5).
 */
import { BitReader } from './bit-reader.ts';
import type { VideoFormat } from './track-formats.ts';

const MARKER_AND_VERSION = 0x81;
const RECORD_BYTES = 4;
const SEQUENCE_HEADER_OBU = 1;

/**
 * Reads the sequence header from the configuration or, if that has none, the key frame. Returns `undefined` if neither
 * has one.
 */
export function readAv1Format(config: Buffer, keyFrame: Buffer): VideoFormat | undefined {
  if (config.length < RECORD_BYTES || config[0] !== MARKER_AND_VERSION) return undefined;
  const header = findSequenceHeader(config.subarray(RECORD_BYTES)) ?? findSequenceHeader(keyFrame);
  if (header === undefined) return undefined;
  const reader = new BitReader(header);
  const picture = readSequenceHeader(reader);
  if (reader.isPastEnd) return undefined;
  return { kind: 'video', codec: av1Name(config), sampleEntry: 'av01', configBox: 'av1C', config, ...picture };
}

/** Returns the codec's name: profile, level, tier and bit depth, such as `av01.0.04M.08`. AV1 in ISOBMFF §5 */
function av1Name(config: Buffer): string {
  const [, levelByte = 0, flags = 0] = config;
  const profile = levelByte >> 5;
  const level = `${levelByte & 31}`.padStart(2, '0');
  const tier = (flags & 0x80) === 0 ? 'M' : 'H';
  const isHigh = (flags & 0x40) !== 0;
  const isTwelve = isHigh && profile === 2 && (flags & 0x20) !== 0;
  return `av01.${profile}.${level}${tier}.${isTwelve ? '12' : isHigh ? '10' : '08'}`;
}

/** Returns the first sequence header, without the header of its OBU (§5.3). */
function findSequenceHeader(obus: Buffer): Buffer | undefined {
  let at = 0;
  while (at < obus.length) {
    const header = obus[at] ?? 0;
    at += (header & 4) === 0 ? 1 : 2;
    const size = (header & 2) === 0 ? { value: obus.length - at, end: at } : readLeb128(obus, at);
    const end = size.end + size.value;
    if (((header >> 3) & 15) === SEQUENCE_HEADER_OBU) return obus.subarray(size.end, end);
    at = end;
  }
  return undefined;
}

/** §4.10.5. */
function readLeb128(bytes: Buffer, from: number): { readonly value: number; readonly end: number } {
  let value = 0;
  for (let index = 0; index < 8; index++) {
    const byte = bytes[from + index] ?? 0;
    value += (byte & 127) * 2 ** (7 * index);
    if ((byte & 128) === 0) return { value, end: from + index + 1 };
  }
  return { value, end: from + 8 };
}

type Picture = Pick<VideoFormat, 'width' | 'height' | 'frameRate'>;

/** §5.5.1. */
function readSequenceHeader(reader: BitReader): Picture {
  reader.skip(4);
  const isReduced = reader.flag();
  let frameRate: number | undefined;
  if (isReduced) reader.skip(5);
  else frameRate = readTimingAndOperatingPoints(reader);
  const widthBits = reader.read(4) + 1;
  const heightBits = reader.read(4) + 1;
  return { width: reader.read(widthBits) + 1, height: reader.read(heightBits) + 1, frameRate };
}

function readTimingAndOperatingPoints(reader: BitReader): number | undefined {
  const hasTiming = reader.flag();
  const frameRate = hasTiming ? readTiming(reader) : undefined;
  const delayBits = hasTiming && reader.flag() ? readDecoderModel(reader) : 0;
  const hasDisplayDelay = reader.flag();
  const points = reader.read(5) + 1;
  for (let point = 0; point < points; point++) {
    reader.skip(12);
    if (reader.read(5) > 7) reader.skip(1);
    if (delayBits > 0 && reader.flag()) reader.skip(2 * delayBits + 1);
    if (hasDisplayDelay && reader.flag()) reader.skip(4);
  }
  return frameRate;
}

function readTiming(reader: BitReader): number | undefined {
  const unitsPerTick = reader.read(32);
  const ticksPerSecond = reader.read(32);
  if (!reader.flag()) return undefined;
  const ticksPerFrame = reader.readUnsigned() + 1;
  return unitsPerTick === 0 || ticksPerSecond === 0 ? undefined : ticksPerSecond / (unitsPerTick * ticksPerFrame);
}

/** Returns the number of bits of a buffer delay. */
function readDecoderModel(reader: BitReader): number {
  const delayBits = reader.read(5) + 1;
  reader.skip(42);
  return delayBits;
}
