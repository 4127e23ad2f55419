/** RTMP players of all streams: attached to their broadcast, counted, and asked again when settings change. */
import type { HubViewer } from '#fanout/encoding.ts';
import type { Hub } from '#fanout/hub.ts';
import type { StreamName } from './live-stream.ts';
import type { RtmpPlayer } from './rtmp/conversation.ts';
import { keyOf } from './stream-lines.ts';

interface Playing {
  readonly key: string;
  readonly viewer: HubViewer;
  mayGoOn(): boolean;
}

export interface PlayerOptions {
  readonly name: StreamName;
  readonly hub: Hub;
  /** Whether the rules still let the player watch. */
  mayGoOn(): boolean;
}

export class Players {
  readonly #playing = new Set<Playing>();

  create({ name, hub, mayGoOn }: PlayerOptions): RtmpPlayer {
    let stop = () => {};
    return {
      start: (viewer) => {
        // A player that was paused was not asked meanwhile.
        if (!mayGoOn()) return viewer.cut();
        const playing: Playing = { key: keyOf(name), viewer, mayGoOn };
        const place = hub.attach(viewer);
        this.#playing.add(playing);
        stop = () => {
          place.detach();
          this.#playing.delete(playing);
        };
      },
      stop: () => stop(),
    };
  }

  count(name: StreamName): number {
    const key = keyOf(name);
    let count = 0;
    for (const playing of this.#playing) if (playing.key === key) count++;
    return count;
  }

  recheck(): void {
    for (const playing of [...this.#playing]) if (!playing.mayGoOn()) playing.viewer.cut();
  }
}
