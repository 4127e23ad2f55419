/** One message of a stream, as RTMP and FLV carry it. */
export interface MediaMessage {
  readonly kind: 'audio' | 'video' | 'data';
  /** Milliseconds. From a publisher: 32 bits that wrap. After `timeline.ts`: from 0, continuous within a broadcast. */
  readonly timestampMs: number;
  /** Begins with the FLV tag's own header bytes, which name the codec and the frame type. */
  readonly data: Buffer;
}
