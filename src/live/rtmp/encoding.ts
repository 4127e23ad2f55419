/** The hub's encoding for RTMP players: whole messages in chunks of one size, the same bytes for every player. */
import type { Encoding } from '#fanout/encoding.ts';
import type { MediaMessage } from '#fanout/media/message.ts';
import { writeMessage } from './chunk-writer.ts';
import { MESSAGE_TYPE } from './messages.ts';

/** Chunk size that the server announces: nearly every message fits one chunk. Old players accept at most 65,536. */
export const SENT_CHUNK_BYTES = 60_000;
/** The message stream id of playback, the same on every connection. */
export const PLAY_STREAM_ID = 1;

/** Tracks that a player can switch off (`receiveAudio`, `receiveVideo`). */
export interface RtmpTracks {
  readonly audio: boolean;
  readonly video: boolean;
}

/** Returns the encoding for these tracks. Messages of other tracks become empty. */
export function rtmpEncoding(tracks: RtmpTracks = { audio: true, video: true }): Encoding {
  const { audio, video } = tracks;
  const name = audio && video ? 'rtmp' : `rtmp${audio ? '-audio' : ''}${video ? '-video' : ''}-only`;
  return {
    name,
    begin: () => NOTHING,
    encode: (message) =>
      (message.kind === 'audio' && !audio) || (message.kind === 'video' && !video) ? NOTHING : encode(message),
  };
}

const NOTHING = Buffer.alloc(0);
const CHUNK_STREAM_ID = { audio: 4, video: 6, data: 5 } as const;

function encode({ kind, timestampMs, data }: MediaMessage): Buffer {
  const message = {
    type: MESSAGE_TYPE[kind],
    timestamp: timestampMs >>> 0, // the clock does not wrap, RTMP's does
    streamId: PLAY_STREAM_ID,
    payload: data,
  };
  return writeMessage(message, CHUNK_STREAM_ID[kind], SENT_CHUNK_BYTES);
}
