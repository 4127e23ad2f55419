/** Writes the init segment of a fragmented MP4 file (ISO/IEC 14496-12 §8, CMAF): the tracks without samples. */
import { box, fullBox, uint16, uint32, zeros } from './boxes.ts';
import type { AudioFormat, VideoFormat } from './track-formats.ts';

export const VIDEO_TRACK = 1;
export const AUDIO_TRACK = 2;
/** Ticks per second of video tracks, a multiple of milliseconds and all usual frame rates. */
export const VIDEO_TIME_SCALE = 90_000;

const SYNC_SAMPLE = 0x02000000;
/** Language "undetermined", ISO 639-2 packed. */
const UNDETERMINED = 0x55c4;
const MATRIX = uint32(0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000);

export interface Formats {
  readonly video: VideoFormat | undefined;
  readonly audio: AudioFormat | undefined;
}

export function initSegment({ video, audio }: Formats): Buffer {
  const header = fullBox(
    'mvhd',
    0,
    0,
    uint32(0, 0, 1000, 0, 0x10000),
    uint16(0x100),
    zeros(10),
    MATRIX,
    zeros(24),
    uint32(AUDIO_TRACK + 1),
  );
  const tracks = [
    ...(video === undefined ? [] : [videoTrack(video)]),
    ...(audio === undefined ? [] : [audioTrack(audio)]),
  ];
  const defaults = [
    ...(video === undefined ? [] : [trackDefaults(VIDEO_TRACK, 0)]),
    ...(audio === undefined ? [] : [trackDefaults(AUDIO_TRACK, SYNC_SAMPLE)]),
  ];
  return Buffer.concat([
    box('ftyp', Buffer.from('iso6'), uint32(0), Buffer.from('iso6cmfcmp41')),
    box('moov', header, ...tracks, box('mvex', ...defaults)),
  ]);
}

function trackDefaults(id: number, sampleFlags: number): Buffer {
  return fullBox('trex', 0, 0, uint32(id, 1, 0, 0, sampleFlags));
}

function videoTrack(format: VideoFormat): Buffer {
  const { width, height } = format;
  return box(
    'trak',
    trackHeader(VIDEO_TRACK, 0, width, height),
    media(VIDEO_TIME_SCALE, 'vide', fullBox('vmhd', 0, 1, zeros(8)), videoEntry(format)),
  );
}

function audioTrack(format: AudioFormat): Buffer {
  return box(
    'trak',
    trackHeader(AUDIO_TRACK, 0x100, 0, 0),
    media(format.sampleRate, 'soun', fullBox('smhd', 0, 0, zeros(4)), audioEntry(format)),
  );
}

/** Flags 3: the track is enabled and part of the presentation. */
function trackHeader(id: number, volume: number, width: number, height: number): Buffer {
  return fullBox(
    'tkhd',
    0,
    3,
    uint32(0, 0, id, 0, 0),
    zeros(8),
    uint16(0, 0, volume, 0),
    MATRIX,
    uint32(width * 0x10000, height * 0x10000),
  );
}

function media(timeScale: number, handler: 'vide' | 'soun', mediaHeader: Buffer, entry: Buffer): Buffer {
  return box(
    'mdia',
    fullBox('mdhd', 0, 0, uint32(0, 0, timeScale, 0), uint16(UNDETERMINED, 0)),
    fullBox('hdlr', 0, 0, uint32(0), Buffer.from(handler), zeros(12), Buffer.from('causeway\0')),
    box(
      'minf',
      mediaHeader,
      // Flag 1: the media is in this file.
      box('dinf', fullBox('dref', 0, 0, uint32(1), fullBox('url ', 0, 1))),
      box(
        'stbl',
        fullBox('stsd', 0, 0, uint32(1), entry),
        fullBox('stts', 0, 0, uint32(0)),
        fullBox('stsc', 0, 0, uint32(0)),
        fullBox('stsz', 0, 0, uint32(0, 0)),
        fullBox('stco', 0, 0, uint32(0)),
      ),
    ),
  );
}

/**
 * Writes a visual sample entry: 72 dots per inch, one frame per sample, no compressor name, 24-bit colour (§12.1.3).
 */
function videoEntry({ sampleEntry, configBox, config, width, height }: VideoFormat): Buffer {
  return box(
    sampleEntry,
    zeros(6),
    uint16(1),
    zeros(16),
    uint16(width, height),
    uint32(0x480000, 0x480000, 0),
    uint16(1),
    zeros(32),
    uint16(24, 0xffff),
    box(configBox, config),
  );
}

/**
 * Writes an audio sample entry (§12.2.3). A sample rate beyond 16 bits is written as 0: decoders read the
 * configuration.
 */
function audioEntry({ sampleEntry, config, objectType, channels, sampleRate }: AudioFormat): Buffer {
  const rate = sampleRate > 0xffff ? 0 : sampleRate;
  const head = [zeros(6), uint16(1), zeros(8), uint16(channels, 16), uint32(0), uint16(rate, 0)];
  if (sampleEntry === 'Opus') return box('Opus', ...head, box('dOps', config));
  return box('mp4a', ...head, fullBox('esds', 0, 0, elementaryStream(objectType, config)));
}

/** Writes an ES descriptor with the decoder's configuration; 0x15 marks an audio stream. ISO/IEC 14496-1 §7.2.6 */
function elementaryStream(objectType: number, config: Buffer): Buffer {
  const specific = config.length === 0 ? zeros(0) : descriptor(5, config);
  const decoder = descriptor(4, Buffer.from([objectType, 0x15, 0, 0, 0]), zeros(8), specific);
  return descriptor(3, uint16(0), zeros(1), decoder, descriptor(6, Buffer.from([2])));
}

/** Writes a descriptor; its length always takes four bytes, which all readers accept. */
function descriptor(tag: number, ...contents: readonly Buffer[]): Buffer {
  const length = contents.reduce((sum, content) => sum + content.length, 0);
  return Buffer.concat([Buffer.from([tag, 0x80, 0x80, 0x80 | (length >> 7), length & 127]), ...contents]);
}
