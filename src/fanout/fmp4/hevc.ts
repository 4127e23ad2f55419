/**
 * H.265: the decoder configuration record (ISO/IEC 14496-15 §8.3.3.1) and its sequence parameter set (ITU-T H.265
 * §7.3.2.2).
 */
import { BitReader, unescapeNal } from './bit-reader.ts';
import type { VideoFormat } from './track-formats.ts';

const SEQUENCE_PARAMETER_SET = 33;
const ARRAYS_AT = 23;
/** hvcC gives the average frame rate in frames per 256 seconds. */
const FRAME_RATE_UNIT = 256;

/** Returns `undefined` unless it is a configuration of version 1 with a readable parameter set. */
export function readHevcFormat(config: Buffer): VideoFormat | undefined {
  if (config.length < ARRAYS_AT || config[0] !== 1) return undefined;
  const nal = findNal(config, SEQUENCE_PARAMETER_SET);
  if (nal === undefined) return undefined;
  const reader = new BitReader(unescapeNal(nal.subarray(2)));
  const size = readSize(reader);
  if (reader.isPastEnd) return undefined;
  const average = config.readUInt16BE(19);
  return {
    kind: 'video',
    codec: hevcName(config),
    sampleEntry: 'hvc1',
    configBox: 'hvcC',
    config,
    ...size,
    frameRate: average === 0 ? undefined : average / FRAME_RATE_UNIT,
  };
}

/**
 * Returns the codec's name: profile, compatibility flags in reverse bit order, tier and level, constraints without
 * trailing zeros. ISO/IEC 14496-15 annex E.3
 */
function hevcName(config: Buffer): string {
  const profile = config[1] ?? 0;
  const space = ['', 'A', 'B', 'C'][profile >> 6];
  const tier = (profile & 0x20) === 0 ? 'L' : 'H';
  let reversed = 0;
  for (let bit = 0; bit < 32; bit++) reversed = reversed * 2 + ((config.readUInt32BE(2) >>> bit) & 1);
  const constraints = [...config.subarray(6, 12)];
  while (constraints.at(-1) === 0) constraints.pop();
  const parts = [
    `hvc1.${space}${profile & 31}`,
    reversed.toString(16).toUpperCase(),
    `${tier}${config[12]}`,
    ...constraints.map((byte) => byte.toString(16).toUpperCase()),
  ];
  return parts.join('.');
}

function findNal(config: Buffer, type: number): Buffer | undefined {
  let at = ARRAYS_AT;
  for (let array = config[ARRAYS_AT - 1] ?? 0; array > 0 && at + 3 <= config.length; array--) {
    const arrayType = (config[at] ?? 0) & 63;
    const count = config.readUInt16BE(at + 1);
    at += 3;
    for (let index = 0; index < count && at + 2 <= config.length; index++) {
      const length = config.readUInt16BE(at);
      const nal = config.subarray(at + 2, at + 2 + length);
      if (arrayType === type) return nal;
      at += 2 + length;
    }
  }
  return undefined;
}

function readSize(reader: BitReader): { readonly width: number; readonly height: number } {
  reader.skip(4);
  const subLayers = reader.read(3);
  reader.skip(1);
  skipProfileTierLevel(reader, subLayers);
  reader.readUnsigned();
  const chroma = reader.readUnsigned();
  if (chroma === 3) reader.skip(1);
  const width = reader.readUnsigned();
  const height = reader.readUnsigned();
  if (!reader.flag()) return { width, height };
  const cropX = chroma === 1 || chroma === 2 ? 2 : 1;
  const cropY = chroma === 1 ? 2 : 1;
  const left = reader.readUnsigned();
  const right = reader.readUnsigned();
  const top = reader.readUnsigned();
  const bottom = reader.readUnsigned();
  return { width: width - (left + right) * cropX, height: height - (top + bottom) * cropY };
}

/** ITU-T H.265 §7.3.3. */
function skipProfileTierLevel(reader: BitReader, subLayers: number): void {
  reader.skip(96);
  const present = Array.from({ length: subLayers }, () => ({ hasProfile: reader.flag(), hasLevel: reader.flag() }));
  if (subLayers > 0) reader.skip(2 * (8 - subLayers));
  for (const { hasProfile, hasLevel } of present) reader.skip((hasProfile ? 88 : 0) + (hasLevel ? 8 : 0));
}
