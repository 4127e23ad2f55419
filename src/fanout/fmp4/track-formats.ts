/** The formats of tracks, as the codecs' readers give them and the init segment writes them. */

export interface VideoFormat {
  readonly kind: 'video';
  /** The name by RFC 6381, as `CODECS` of a playlist has it: `avc1.64001F`. */
  readonly codec: string;
  readonly sampleEntry: 'avc1' | 'hvc1' | 'av01' | 'vp09';
  /** The box with the decoder's configuration and its content. */
  readonly configBox: 'avcC' | 'hvcC' | 'av1C' | 'vpcC';
  readonly config: Buffer;
  readonly width: number;
  readonly height: number;
  /** Frames per second; `undefined`: the stream does not say. */
  readonly frameRate: number | undefined;
}

export interface AudioFormat {
  readonly kind: 'audio';
  /** The name by RFC 6381: `mp4a.40.2`, `opus`. */
  readonly codec: string;
  readonly sampleEntry: 'mp4a' | 'Opus';
  /** AAC: the AudioSpecificConfig. Opus: the content of `dOps`. MP3: empty. */
  readonly config: Buffer;
  /** The object type of MPEG-4 Systems, table 5: 0x40 AAC, 0x6b and 0x69 MP3; 0 for other codecs. */
  readonly objectType: number;
  readonly channels: number;
  /** The sample rate in hertz; also the track's time scale. */
  readonly sampleRate: number;
  /** How many samples at `sampleRate` a frame holds; 0: the frame is not one of this codec. */
  readonly frameSamples: (frame: Buffer) => number;
}
