/** One accepted player of a connection: attached to its stream or paused, with the tracks that it wants. */
import type { HubViewer } from '#fanout/encoding.ts';
import type { RtmpPlayer } from './conversation.ts';
import { type RtmpTracks, rtmpEncoding } from './encoding.ts';

type ViewerOutput = Omit<HubViewer, 'encoding'>;

export class Playback {
  readonly #player: RtmpPlayer;
  readonly #output: ViewerOutput;
  #tracks: RtmpTracks = { audio: true, video: true };
  #isStarted = false;
  #isPaused = false;

  constructor(player: RtmpPlayer, output: ViewerOutput) {
    this.#player = player;
    this.#output = output;
  }

  start(): void {
    if (this.#isStarted) return;
    this.#isStarted = true;
    const output = this.#output;
    this.#player.start({
      encoding: rtmpEncoding(this.#tracks),
      write: (bytes) => output.write(bytes),
      get queuedBytes() {
        return output.queuedBytes;
      },
      end: () => output.end(),
      cut: () => output.cut(),
    });
  }

  stop(): void {
    if (!this.#isStarted) return;
    this.#isStarted = false;
    this.#player.stop();
  }

  /** Ends playback for good. */
  end(): void {
    this.stop();
    this.#player.leave();
  }

  /** Pauses or resumes. Media that a paused player misses is not sent later: the stream is live. */
  pause(isPaused: boolean): void {
    this.#isPaused = isPaused;
    if (isPaused) this.stop();
    else this.start();
  }

  choose(track: keyof RtmpTracks, isWanted: boolean): void {
    if (this.#tracks[track] === isWanted) return;
    this.#tracks = { ...this.#tracks, [track]: isWanted };
    this.stop();
    if (!this.#isPaused) this.start();
  }
}
