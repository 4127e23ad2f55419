/** Reads MP4 files with the library mp4box: another reader than ours, and the way to the frames that ffmpeg encoded. */
import { createFile, MP4BoxBuffer, type Sample } from 'mp4box';

export interface Mp4Track {
  readonly kind: 'audio' | 'video';
  /** Codec string of RFC 6381, as mp4box makes it of the file. */
  readonly codec: string;
  readonly timeScale: number;
  readonly samples: readonly Sample[];
}

/** Tracks in the order of the file, with the bytes of their samples. Throws when mp4box reports an error. */
export function readMp4(bytes: Buffer): readonly Mp4Track[] {
  const file = createFile();
  const tracks: (Mp4Track & { readonly id: number; readonly samples: Sample[] })[] = [];
  let failure: string | undefined;
  file.onError = (module, message) => {
    failure = `${module}: ${message}`;
  };
  file.onReady = (movie) => {
    for (const { id, codec, timescale, video } of movie.tracks) {
      tracks.push({ id, kind: video === undefined ? 'audio' : 'video', codec, timeScale: timescale, samples: [] });
      file.setExtractionOptions(id, undefined, { nbSamples: 1 });
    }
    file.start();
  };
  file.onSamples = (id, _user, samples) => {
    tracks.find((track) => track.id === id)?.samples.push(...samples);
  };
  const copy = new ArrayBuffer(bytes.length);
  new Uint8Array(copy).set(bytes);
  file.appendBuffer(MP4BoxBuffer.fromArrayBuffer(copy, 0), true);
  file.flush();
  if (failure !== undefined) throw new Error(failure);
  return tracks;
}

/** The content of the first box of a type, wherever it lies. */
export function findBox(bytes: Buffer, type: string): Buffer | undefined {
  const at = bytes.indexOf(type, 0, 'latin1');
  return at < 4 ? undefined : bytes.subarray(at + 4, at - 4 + bytes.readUInt32BE(at - 4));
}
