/**
 * VP9: the configuration record (VP Codec ISO Media File Format Binding §2) and the size in a key frame's header (VP9
 * bitstream §6.2).
 */
import { BitReader } from './bit-reader.ts';
import type { VideoFormat } from './track-formats.ts';

const RECORD_BYTES = 8;
/**
 * `vpcC` is a full box of version 1. Some publishers send its version and flags before the record, some the record
 * alone.
 */
const VERSION_AND_FLAGS = Buffer.from([1, 0, 0, 0]);
const SYNC_CODE = 0x498342;
const COLOR_SPACE_RGB = 7;

/** Returns `undefined` if the configuration is malformed or the frame is not a key frame. */
export function readVp9Format(config: Buffer, keyFrame: Buffer): VideoFormat | undefined {
  const isBox = config.length >= RECORD_BYTES + 4 && config.subarray(0, 4).equals(VERSION_AND_FLAGS);
  const record = isBox ? config.subarray(4) : config;
  const size = readSize(keyFrame);
  if (record.length < RECORD_BYTES || size === undefined) return undefined;
  const [profile = 0, level = 0, depth = 0] = record;
  const numbers = [profile, level, depth >> 4].map((number) => `${number}`.padStart(2, '0'));
  return {
    kind: 'video',
    codec: `vp09.${numbers.join('.')}`,
    sampleEntry: 'vp09',
    configBox: 'vpcC',
    config: Buffer.concat([VERSION_AND_FLAGS, record]),
    ...size,
    frameRate: undefined,
  };
}

function readSize(frame: Buffer): { readonly width: number; readonly height: number } | undefined {
  const reader = new BitReader(frame);
  const marker = reader.read(2);
  const profile = reader.read(1) + 2 * reader.read(1);
  if (profile === 3) reader.skip(1);
  const isShownAgain = reader.flag();
  const isInter = reader.flag();
  reader.skip(2);
  if (marker !== 2 || isShownAgain || isInter || reader.read(24) !== SYNC_CODE) return undefined;
  if (profile >= 2) reader.skip(1);
  const isRgb = reader.read(3) === COLOR_SPACE_RGB;
  if (!isRgb) reader.skip(1);
  if (profile % 2 === 1) reader.skip(isRgb ? 1 : 3);
  const width = reader.read(16) + 1;
  const height = reader.read(16) + 1;
  return reader.isPastEnd ? undefined : { width, height };
}
