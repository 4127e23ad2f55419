/** The formats of tracks: results of the codecs' readers, and input of the init segment. */

export interface VideoFormat {
  readonly kind: 'video';
  /** Name by RFC 6381 for `CODECS` of a playlist, such as `avc1.64001F`. */
  readonly codec: string;
  readonly sampleEntry: 'avc1' | 'hvc1' | 'av01' | 'vp09';
  /** Type of the box whose content is `config`, the decoder's configuration. */
  readonly configBox: 'avcC' | 'hvcC' | 'av1C' | 'vpcC';
  readonly config: Buffer;
  readonly width: number;
  readonly height: number;
  /** Frames per second; `undefined` if the stream does not declare it. */
  readonly frameRate: number | undefined;
}

export interface AudioFormat {
  readonly kind: 'audio';
  /** Name by RFC 6381, such as `mp4a.40.2` or `opus`. */
  readonly codec: string;
  readonly sampleEntry: 'mp4a' | 'Opus';
  /** AAC: the AudioSpecificConfig. Opus: the content of `dOps`. MP3: empty. */
  readonly config: Buffer;
  /** The object type of MPEG-4 Systems, table 5: 0x40 AAC, 0x6b and 0x69 MP3; 0 for other codecs. */
  readonly objectType: number;
  readonly channels: number;
  /** The sample rate in hertz; also the track's time scale. */
  readonly sampleRate: number;
  /** Returns the number of samples in a frame; 0 if the frame is not of this codec. */
  readonly frameSamples: (frame: Buffer) => number;
}
