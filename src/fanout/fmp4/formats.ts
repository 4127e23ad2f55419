/** Reads the format of a video track from the codec's configuration and, where that is not enough, a key frame. */
import { readAv1Format } from './av1.ts';
import { readAvcFormat } from './avc.ts';
import { readHevcFormat } from './hevc.ts';
import type { VideoFormat } from './track-formats.ts';
import { readVp9Format } from './vp9.ts';

/**
 * Returns `undefined` if the codec is not supported or the bytes are malformed. `codec` is the sample entry's name,
 * `config` the configuration record, `keyFrame` the first frame.
 */
export function readVideoFormat(codec: string, config: Buffer, keyFrame: Buffer): VideoFormat | undefined {
  const format = readFormat(codec, config, keyFrame);
  return format !== undefined && isSize(format.width) && isSize(format.height) ? format : undefined;
}

function readFormat(codec: string, config: Buffer, keyFrame: Buffer): VideoFormat | undefined {
  switch (codec) {
    case 'avc1':
      return readAvcFormat(config);
    case 'hvc1':
      return readHevcFormat(config);
    case 'av01':
      return readAv1Format(config, keyFrame);
    case 'vp09':
      return readVp9Format(config, keyFrame);
    default:
      return undefined;
  }
}

/** Whether a width or height fits the 16 bits of a sample entry. */
function isSize(pixels: number): boolean {
  return pixels > 0 && pixels <= 0xffff;
}
