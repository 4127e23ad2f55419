/** The audio codecs of our MP4 files: AAC (ISO/IEC 14496-3), Opus (RFC 6716, RFC 7845) and MP3 (ISO/IEC 11172-3). */
import { BitReader } from './bit-reader.ts';
import type { AudioFormat } from './track-formats.ts';

/** ISO/IEC 14496-3, table 1.18. */
const AAC_RATES = [96000, 88200, 64000, 48000, 44100, 32000, 24000, 22050, 16000, 12000, 11025, 8000, 7350] as const;
const AAC_EXPLICIT_RATE = 15;
const AAC_ESCAPED_TYPE = 31;
/**
 * Object types of spectral band replication: 5, and 29 with parametric stereo. The underlying type follows the
 * extension rate.
 */
const AAC_EXTENDED_TYPES: readonly number[] = [5, 29];
/** Limit of the configuration, which must fit its descriptor; known ones are far shorter. */
const AAC_MAX_CONFIG_BYTES = 1024;
const OPUS_RATE = 48_000;
const OPUS_MAX_FRAME = 5_760;
const MP3_RATES: readonly number[] = [44_100, 48_000, 32_000];

/**
 * Reads an audio track's format; `undefined` if the codec is not supported or the bytes are malformed. `config` is the
 * content of the sequence header; of MP3, which has none, the first frame.
 */
export function readAudioFormat(codec: string, config: Buffer): AudioFormat | undefined {
  switch (codec) {
    case 'mp4a':
      return readAacFormat(config);
    case 'Opus':
      return readOpusFormat(config);
    case '.mp3':
      return readMp3Format(config);
    default:
      return undefined;
  }
}

/** ISO/IEC 14496-3 §1.6.2.1. */
function readAacFormat(config: Buffer): AudioFormat | undefined {
  if (config.length > AAC_MAX_CONFIG_BYTES) return undefined;
  const reader = new BitReader(config);
  const objectType = readAacType(reader);
  const rate = readAacRate(reader);
  const channels = reader.read(4);
  let coreType = objectType;
  if (AAC_EXTENDED_TYPES.includes(objectType)) {
    readAacRate(reader);
    coreType = readAacType(reader);
  }
  const samples = reader.flag() ? 960 : 1024;
  if (reader.isPastEnd || objectType === 0 || coreType === 0 || rate === undefined || rate < 7_350) return undefined;
  return {
    kind: 'audio',
    codec: `mp4a.40.${objectType}`,
    sampleEntry: 'mp4a',
    config,
    objectType: 0x40,
    // 7 stands for eight channels; 0 leaves it to the frames, which are stereo in all known streams.
    channels: channels === 7 ? 8 : channels === 0 ? 2 : channels,
    sampleRate: rate,
    frameSamples: () => samples,
  };
}

function readAacType(reader: BitReader): number {
  const type = reader.read(5);
  return type === AAC_ESCAPED_TYPE ? 32 + reader.read(6) : type;
}

function readAacRate(reader: BitReader): number | undefined {
  const index = reader.read(4);
  return index === AAC_EXPLICIT_RATE ? reader.read(24) : AAC_RATES[index];
}

/**
 * Converts the ID header (RFC 7845 §5.1, little endian) to the content of `dOps` (Opus in ISOBMFF §4.3.2, big endian).
 */
function readOpusFormat(header: Buffer): AudioFormat | undefined {
  const channels = header[9];
  const family = header[18];
  if (header.toString('latin1', 0, 8) !== 'OpusHead' || channels === undefined || family === undefined)
    return undefined;
  if (channels === 0 || (family !== 0 && header.length < 21 + channels)) return undefined;
  const mapping = family === 0 ? Buffer.alloc(0) : header.subarray(19, 21 + channels);
  const config = Buffer.alloc(11 + mapping.length);
  config[1] = channels;
  config.writeUInt16BE(header.readUInt16LE(10), 2);
  config.writeUInt32BE(header.readUInt32LE(12), 4);
  config.writeInt16BE(header.readInt16LE(16), 8);
  config[10] = family;
  mapping.copy(config, 11);
  return {
    kind: 'audio',
    codec: 'opus',
    sampleEntry: 'Opus',
    config,
    objectType: 0,
    channels,
    sampleRate: OPUS_RATE,
    frameSamples: opusSamples,
  };
}

/** Returns the samples of a packet, whose first byte has the duration and number of frames. RFC 6716 §3.1, §3.2 */
function opusSamples(packet: Buffer): number {
  const toc = packet[0];
  if (toc === undefined) return 0;
  const code = toc & 3;
  const frames = code === 3 ? (packet[1] ?? 0) & 63 : code === 0 ? 1 : 2;
  const samples = frames * opusFrameSamples(toc >> 3);
  return samples <= OPUS_MAX_FRAME ? samples : 0;
}

/** RFC 6716, table 2, in samples of 48 kHz. */
function opusFrameSamples(config: number): number {
  if (config < 12) return [480, 960, 1920, 2880][config % 4] ?? 0;
  if (config < 16) return config % 2 === 0 ? 480 : 960;
  return 120 * 2 ** (config % 4);
}

/** ISO/IEC 11172-3 §2.4.1.3; only layer III of MPEG-1 and MPEG-2 (13818-3). */
function readMp3Format(frame: Buffer): AudioFormat | undefined {
  if (frame.length < 4) return undefined;
  const header = frame.readUInt32BE(0);
  const version = (header >>> 19) & 3;
  const rate = MP3_RATES[(header >>> 10) & 3];
  if (header >>> 21 !== 0x7ff || version < 2 || ((header >>> 17) & 3) !== 1 || rate === undefined) return undefined;
  const isFirst = version === 3;
  const samples = isFirst ? 1152 : 576;
  const objectType = isFirst ? 0x6b : 0x69;
  return {
    kind: 'audio',
    codec: `mp4a.${objectType.toString(16).toUpperCase()}`,
    sampleEntry: 'mp4a',
    config: Buffer.alloc(0),
    objectType,
    channels: ((header >>> 6) & 3) === 3 ? 1 : 2,
    sampleRate: isFirst ? rate : rate / 2,
    frameSamples: () => samples,
  };
}
